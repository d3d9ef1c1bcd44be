package serving

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"time"
)

// AdminClient talks to the admin socket of the server that has a data folder.
func AdminClient(data string, patience time.Duration) *http.Client {
	socket := filepath.Join(data, "admin.sock")
	return &http.Client{Timeout: patience, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
}

// Command is an admin command as it travels to the socket; flags are name, value, name, value.
// Package cmd/keystile/internal/admin says what it means.
func Command(name string, flags []string, words ...string) (*http.Request, error) {
	var body struct {
		Command string `json:"command"`
		Args    struct {
			Flags map[string][]string `json:"flags"`
			Words []string            `json:"words"`
		} `json:"args"`
	}
	body.Command, body.Args.Words = name, words
	body.Args.Flags = map[string][]string{"json": {"true"}}
	for i := 0; i < len(flags); i += 2 {
		body.Args.Flags[flags[i]] = flags[i+1 : i+2]
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return http.NewRequest(http.MethodPost, "http://keystile/", bytes.NewReader(text))
}

// Result holds the output of an admin command with --json, or its error.
type Result struct {
	Output string `json:"output"`
	Error  string `json:"error"`
}
