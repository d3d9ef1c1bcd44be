//go:build linux

package main

import (
	"errors"
	"net/http"
)

// provider is the name on the table of the other OpenID provider, which keeps all in memory.
const provider = "go-oidc in memory"

// provider starts it, if peers are asked for.
func (b *bench) provider() (*process, error) {
	if !b.peers {
		return nil, nil
	}
	program, err := b.compile("internal/test/campaigns/peers/provider", "provider", "build", "-trimpath", ".")
	if err != nil {
		return nil, err
	}
	return spawn("provider at", nil, program)
}

// providerToken gets a token for the provider's application itself.
func providerToken(_ int, c *conn) error {
	err := c.post("/token",
		"grant_type=client_credentials&client_id=peer&client_secret=a-secret-that-is-long-enough-for-this&scope=app")
	return errors.Join(err, c.want(http.StatusOK))
}

// besideFloor returns the line of the provider, of its samples beside those of a floor.
func (b *bench) besideFloor(work, floor string, s, of []sample) figure {
	r, spread := ratio(s, of, b.speed())
	return figure{work: provider + ": " + work, beside: floor, goal: noGoal, value: r, spread: spread, cpu: median(s, cpu),
		note: perSecond(s)}
}
