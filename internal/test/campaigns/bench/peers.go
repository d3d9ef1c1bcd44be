//go:build linux

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"embed"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed peers
var peerConfigs embed.FS

// peer is a proxy of somebody else's that checks each call too, as far as it can.
type peer struct {
	name    string
	program string
	config  string // a file in peers
	args    []string
}

// peers are measured where they are installed. HAProxy verifies each signature and counts by the
// application, the others ask Keystile about each call.
var peers = []peer{
	{"nginx, auth_request", "nginx", "nginx.conf", []string{"-p", "DIR", "-e", "stderr", "-c", "DIR/nginx.conf", "-g",
		"daemon off; user root;"}},
	{"Caddy, forward_auth", "caddy", "Caddyfile", []string{"run", "--config", "DIR/Caddyfile"}},
	{"HAProxy, ES256 and a rate", "haproxy", "haproxy.cfg", []string{"-q", "-f", "DIR/haproxy.cfg"}},
}

// other is a peer that runs.
type other struct {
	name string
	*process
}

// others starts the peers that are on this machine, if they are asked for.
func (b *bench) others(service *process, h *service) (some []other, err error) {
	if !b.peers {
		return nil, nil
	}
	for _, p := range peers {
		run, err := p.start(b, service, h)
		if err != nil {
			return some, err
		}
		if run != nil {
			some = append(some, other{p.name, run})
		}
	}
	return some, nil
}

func stopAll(some []other) {
	for _, o := range some {
		o.stop()
	}
}

// beaten is a line for each peer, of its samples beside those of the proxy that checks nothing.
func (b *bench) beaten(some []other, proxy []sample, s [][]sample) (figures []figure) {
	for i, o := range some {
		r, spread := ratio(s[i], proxy, b.speed())
		figures = append(figures, figure{work: o.name, beside: "tuned ReverseProxy", goal: noGoal, value: r, spread: spread,
			cpu: median(s[i], cpu), note: perSecond(s[i])})
	}
	return figures
}

// start returns nil if the peer is not installed.
func (p peer) start(b *bench, service *process, h *service) (*process, error) {
	program, err := exec.LookPath(p.program)
	if err != nil {
		return nil, nil
	}
	dir := filepath.Join(b.dir, "peer-"+p.program)
	text, err := peerConfigs.ReadFile("peers/" + p.config)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	key, err := h.publicKey()
	if err != nil {
		return nil, err
	}
	filled := strings.NewReplacer("ADDRESS", address, "SERVICE", service.address, "KEYSTILE", h.address, "KEY",
		filepath.Join(dir, "key.pem"), "DIR", dir)
	// Files of the same folder from a run before are written again.
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "key.pem"), key, 0o600),
		os.WriteFile(filepath.Join(dir, p.config), []byte(filled.Replace(string(text))), 0o600)); err != nil {
		return nil, err
	}
	args := slices.Clone(p.args)
	for i := range args {
		args[i] = filled.Replace(args[i])
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	run := &process{cmd: cmd, address: address, ended: make(chan struct{}), behind: []*process{service, h.process}}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { defer close(run.ended); cmd.Wait() }()
	if err := run.listens(); err != nil {
		run.stop()
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return run, nil
}

// listens waits until somebody may connect.
func (p *process) listens() error {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", p.address)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(end) {
			return err
		}
	}
}

// freeAddress is one that nobody listened at a moment ago.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// publicKey is the key that access tokens are signed with, in PEM.
func (h *service) publicKey() ([]byte, error) {
	resp, err := http.Get("http://" + h.address + "/oauth/jwks")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var set struct {
		Keys []struct{ Kty, Crv, X, Y string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&set); err != nil {
		return nil, err
	}
	for _, k := range set.Keys {
		if k.Kty != "EC" || k.Crv != "P-256" {
			continue
		}
		x, errX := base64.RawURLEncoding.DecodeString(k.X)
		y, errY := base64.RawURLEncoding.DecodeString(k.Y)
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
		if err := errors.Join(errX, errY, err); err != nil {
			return nil, err
		}
		der, err := x509.MarshalPKIXPublicKey(key)
		return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), err
	}
	return nil, errors.New("there is no key for ES256")
}
