package statistics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// checkFinite returns an error that names the first entry of a matrix that is not finite. Factorisations of gonum
// 0.17.0 report success on such a matrix, or fail in worse ways.
func checkFinite(what string, a mat.Matrix) error {
	rows, columns := a.Dims()
	for i := range rows {
		for j := range columns {
			if v := a.At(i, j); !Finite(v) {
				return fmt.Errorf("%s is %v in row %d and column %d", what, v, i+1, j+1)
			}
		}
	}
	return nil
}

// Eigen computes the eigenvalues and eigenvectors of a matrix, which errors call what.
func Eigen(what string, a mat.Symmetric) (*mat.EigenSym, error) {
	of, err := new(mat.EigenSym), checkFinite(what, a)
	if err == nil && !of.Factorize(a, true) {
		err = fmt.Errorf("the eigenvalues of %s do not converge", what)
	}
	return of, err
}

// SVD computes the thin singular value decomposition of a matrix, which errors call what.
func SVD(what string, a mat.Matrix) (*mat.SVD, error) {
	of, err := new(mat.SVD), checkFinite(what, a)
	if err == nil && !of.Factorize(a, mat.SVDThin) {
		err = fmt.Errorf("the singular values of %s do not converge", what)
	}
	return of, err
}

// Cholesky factorises a positive definite matrix, which errors call what.
func Cholesky(what string, a mat.Symmetric) (*mat.Cholesky, error) {
	of, err := new(mat.Cholesky), checkFinite(what, a)
	if err == nil && !of.Factorize(a) {
		err = fmt.Errorf("%s is not positive definite", what)
	}
	return of, err
}

// Inverse returns the inverse of a matrix, which errors call what.
func Inverse(what string, a mat.Matrix) (*mat.Dense, error) {
	inverse, err := new(mat.Dense), checkFinite(what, a)
	if err == nil {
		if err = inverse.Inverse(a); err != nil {
			err = fmt.Errorf("%s has no inverse: %w", what, err)
		}
	}
	return inverse, err
}

// LogDet returns the logarithm of the absolute value of the determinant of a matrix. It is NaN unless all entries are
// finite.
func LogDet(a mat.Matrix) float64 {
	if checkFinite("", a) != nil {
		return math.NaN()
	}
	logDet, _ := mat.LogDet(a)
	return logDet
}
