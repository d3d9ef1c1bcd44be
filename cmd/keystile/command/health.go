package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/storage"
)

// healthPatience bounds the wait for an answer. The caller of the check waits longer.
const healthPatience = 5 * time.Second

// askHealth asks the service of this configuration, on this machine, whether it is ready. A container
// that holds nothing but the program has no other way to ask.
func askHealth(ctx context.Context, call cli.Call) error {
	c, err := config.Load(call.Args, call.Env)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	address := reachable(c.Listen)
	if !c.Asked("listen") { // the server that has the data folder knows where it listens
		if at, err := admin.AskAddress(ctx, c.Data); err == nil && at != "" {
			address = reachable(at)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz/ready", nil)
	if err != nil {
		return err
	}
	direct := &http.Transport{DisableKeepAlives: true} // a proxy would ask another machine
	resp, err := direct.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("no service answers at %s: start it, or name its address with --listen: %w", address, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return fmt.Errorf("the service at %s is not ready: %s %s", address, resp.Status, strings.TrimSpace(string(said)))
	}
	// who may not read the folder learns whether the service is ready, and no more
	open, unknown := admin.AskOpenTools(ctx, c.Data)
	if call.On(asJSON.Name) {
		return json.NewEncoder(call.Stdout).Encode(struct {
			Ready   bool   `json:"ready"`
			Address string `json:"address"`
			*admin.OpenTools
		}{true, address, open})
	}
	_, err = fmt.Fprintf(call.Stdout, "The service at %s is ready.\n", address)
	if err == nil && unknown == nil && open.Count > 0 {
		_, err = fmt.Fprintf(call.Stdout, `Strangers become users, or have become users (%s), and everybody may use %d tools without an access list: %s
Give each capability a list (keystile capability access), or: keystile setting set %s owner
`, strings.Join(open.By, ", "), open.Count, firstOf(open.Tools, open.Count), storage.SettingDefaultAccess)
	}
	return err
}

// firstOf lists the first of several names.
func firstOf(first []string, all int) string {
	text := strings.Join(first, ", ")
	if all > len(first) {
		text += ", ..."
	}
	return text
}

// reachable returns the address at which this machine reaches what listens at one: all addresses are none.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil || !everywhere(host) {
		return address
	}
	return net.JoinHostPort("127.0.0.1", port)
}
