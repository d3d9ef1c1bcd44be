package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
)

// errNobody: no server answers at the socket.
var errNobody = errors.New("no server answers")

// ask has the server behind a socket run a command.
func ask(ctx context.Context, socket string, req Request) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return "", errNobody
	case err != nil:
		return "", fmt.Errorf("the server's socket can not be used: %w; run this as the user the server runs as", err)
	}
	defer conn.Close()
	resp, err := send(ctx, conn, req)
	switch {
	case err != nil:
		return "", fmt.Errorf("the server went away while it was asked (%w); whether it was done is not known: look, and try again", err)
	case resp.Usage:
		return "", cli.Usage("%s", resp.Error)
	case resp.Error != "":
		return "", errors.New(resp.Error)
	}
	return resp.Output, nil
}

func send(ctx context.Context, conn net.Conn, req Request) (resp Response, err error) {
	body, err := json.Marshal(req)
	if err != nil {
		return resp, err
	}
	over := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://keystile/", bytes.NewReader(body))
	if err != nil {
		return resp, err
	}
	in, err := over.RoundTrip(out)
	if err != nil {
		return resp, err
	}
	defer in.Body.Close()
	return resp, json.NewDecoder(in.Body).Decode(&resp)
}
