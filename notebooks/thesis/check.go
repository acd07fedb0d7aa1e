package thesis

// A result needs all of its runs, so the first error ends its making. Functions that make results therefore
// return no errors: check and must panic with an error, and untilAnError, which the catalogue calls, returns
// it.

// ended is the panic by which an error ends the making of a result.
type ended struct{ err error }

func check(err error) {
	if err != nil {
		panic(ended{err})
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

// untilAnError runs something, and returns the error that ended it, if any.
func untilAnError(something func()) (err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case ended:
			err = reason.err
		default:
			panic(reason)
		}
	}()
	something()
	return nil
}
