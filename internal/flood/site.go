package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// paper is first-run.json, as far as it is needed.
type paper struct {
	App struct {
		ID       string `json:"client_id"`
		Secret   string `json:"client_secret"`
		Redirect string `json:"redirect_uri"`
	}
}

func readPaper(data string) (p paper, err error) {
	text, err := os.ReadFile(filepath.Join(data, "first-run.json"))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err == nil && p.App.ID == "" {
		err = errors.New("first-run.json names no application")
	}
	return p, err
}

// operator gives commands by the socket of a data folder.
type operator struct{ client *http.Client }

func newOperator(data string) operator {
	return operator{&http.Client{Timeout: patience, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(data, "admin.sock"))
		},
	}}}
}

// run gives a command; flags are name, value, name, value.
func (o operator) run(name string, flags []string, words ...string) error {
	named := map[string][]string{"json": {"true"}}
	for i := 0; i < len(flags); i += 2 {
		named[flags[i]] = flags[i+1 : i+2]
	}
	body, err := json.Marshal(map[string]any{"command": name, "args": map[string]any{"flags": named, "words": words}})
	if err != nil {
		return err
	}
	resp, err := o.client.Post("http://keystile/", "application/json", strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var out struct{ Error string }
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return err
	}
	if out.Error != "" {
		return fmt.Errorf("keystile %s: %s", name, out.Error)
	}
	return nil
}
