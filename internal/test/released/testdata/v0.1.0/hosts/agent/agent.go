package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
)

// agent speaks MCP by hand, to show what goes over the wire. Any MCP client does the same:
// give it the address and the token.
type agent struct{ origin, token string }

// newAgent gets a token with the application's key.
func newAgent(ctx context.Context, origin string, app storage.App) (*agent, error) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {app.ID},
		"client_secret": {app.AppKey().Reveal()}}
	var answer struct {
		Token string `json:"access_token"`
	}
	a := &agent{origin: origin}
	err := a.send(ctx, "/oauth/token", "application/x-www-form-urlencoded", strings.NewReader(form.Encode()), &answer)
	a.token = answer.Token
	return a, err
}

// request sends one message to the bus. No handshake is needed: the bus remembers nothing.
func (a *agent) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := a.send(ctx, mcpbus.Path, "application/json", bytes.NewReader(message), &answer); err != nil {
		return nil, err
	}
	if answer.Error != nil {
		return nil, fmt.Errorf("%s: %s", method, answer.Error.Message)
	}
	return answer.Result, nil
}

func (a *agent) send(ctx context.Context, path, kind string, body io.Reader, answer any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.origin+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", kind)
	if a.token != "" {
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}
