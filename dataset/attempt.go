//go:build !js

package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// errStalled ends an attempt if the server sends nothing for too long.
var errStalled = errors.New("the server sent nothing")

// attempt requests the missing bytes once and receives them. If it fails, again reports whether another attempt
// may succeed.
func (d *download) attempt(ctx context.Context) (again bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(d.stall, func() { cancel(fmt.Errorf("%w for %v", errStalled, d.stall)) })
	defer stalled.Stop()
	broke := func(err error) error {
		if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
			err = cause
		}
		return fmt.Errorf("%s broke off after %d of %d bytes: try again, and the download resumes there, or put the file at %s (%w)",
			d.address, d.done, d.size, d.target, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.address, nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Accept-Encoding", "identity") // no compression in transit
	if d.done > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.done))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return true, broke(err)
	}
	defer response.Body.Close()
	switch code := response.StatusCode; {
	case code == http.StatusPartialContent && strings.HasPrefix(response.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", d.done)):
	case code == http.StatusOK:
		if err := d.restart(); err != nil { // the server sends the whole file
			return false, err
		}
	case code == http.StatusPartialContent || code == http.StatusRequestedRangeNotSatisfiable:
		return true, errors.Join(d.restart(), fmt.Errorf("%s does not have the part that was requested: try again", d.address))
	default:
		return code >= 500 || code == http.StatusTooManyRequests,
			fmt.Errorf("%s answered %q: try again later, or put the file at %s", d.address, response.Status, d.target)
	}
	// A byte beyond the expected size shows that the server sends a different file.
	body := io.LimitReader(response.Body, d.size-d.done+1)
	for buffer := make([]byte, 1<<16); ; {
		n, err := body.Read(buffer)
		if n > 0 {
			stalled.Reset(d.stall)
			if _, err := d.part.Write(buffer[:n]); err != nil {
				return false, err
			}
			d.done += int64(n)
			d.progress(d.done)
		}
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return true, broke(err)
		}
	}
}
