package admin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
)

// errNobody: no server answers at the socket.
var errNobody = errors.New("no server answers")

var errNoCopies = errors.New("the running server cannot copy its database: it is of another version; restart it, or " +
	"stop it first")

// ask has the server behind a socket run a command, and waits so long for its answer.
func ask(ctx context.Context, socket string, req Request, wait time.Duration) (string, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return "", err
	}
	return exchange(ctx, socket, "/", cmp.Or(wait, 30*time.Second), bytes.NewReader(body))
}

// exchange sends a Request and returns what the Response has to print.
func exchange(ctx context.Context, socket, path string, wait time.Duration, body io.Reader) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	in, err := post(ctx, socket, path, body)
	if err != nil {
		return "", err
	}
	defer in.Body.Close()
	var resp Response
	if err := json.NewDecoder(in.Body).Decode(&resp); err != nil {
		return "", wentAway(err)
	}
	return resp.Output, resp.err()
}

func (r Response) err() error {
	switch {
	case r.Usage:
		return cli.Usage("%s", r.Error)
	case r.Error != "":
		return errors.New(r.Error)
	}
	return nil
}

// fetch copies the server's database to w. It takes as long as it takes; what breaks off
// is an error, because the answer's end is marked.
func fetch(ctx context.Context, socket string, w io.Writer) (int64, error) {
	in, err := post(ctx, socket, copyPath, nil)
	if err != nil {
		return 0, err
	}
	defer in.Body.Close()
	if in.Header.Get("Content-Type") != copyType {
		return 0, errNoCopies
	}
	n, err := io.Copy(w, in.Body)
	if err != nil {
		return n, fmt.Errorf("the copy is not complete, and nothing is left of it: %w", err)
	}
	return n, nil
}

// post sends a request. The caller closes the answer's body, and with it the connection.
func post(ctx context.Context, socket, path string, body io.Reader) (*http.Response, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, errNobody
	case err != nil:
		return nil, fmt.Errorf("the server's socket cannot be used: %w; run this as the user the server runs as", err)
	}
	over := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://keystile"+path, body)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	in, err := over.RoundTrip(out)
	if err != nil {
		return nil, wentAway(err)
	}
	return in, nil
}

func wentAway(err error) error {
	return fmt.Errorf("the server went away while it was asked (%w); whether it was done is not known: look, and try "+
		"again", err)
}
