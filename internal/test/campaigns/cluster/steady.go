package main

import (
	"net/http"
	"sync"
	"time"
)

// Steady load while nodes are restarted one after the other.
const (
	perSecond = 200
	abreast   = 100
)

// steady sends requests through the balancer, at an even rate, until it is stopped. None may fail.
func (c *campaign) steady() (stop func()) {
	quit := make(chan struct{})
	var working sync.WaitGroup
	tickets := make(chan int, abreast)
	for range abreast {
		working.Go(func() {
			for i := range tickets {
				c.one(i)
			}
		})
	}
	working.Go(func() {
		defer close(tickets)
		tick := time.NewTicker(time.Second / perSecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-tick.C:
				tickets <- i
			case <-quit:
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(quit); working.Wait() })
}

// one sends one of three requests, of which the balancer may send one twice.
func (c *campaign) one(i int) {
	var a answer
	m := c.model
	switch i % 3 {
	case 0:
		a = m.get(balanced, "/oauth/userinfo", "Authorization", "Bearer "+c.bearer)
	case 1:
		a = m.post(balanced, "/oauth/token", c.world.app.form("grant_type", "client_credentials"))
	default:
		a = m.get(balanced, "/api/v1/verify", "Authorization", "Bearer "+c.bearer)
	}
	m.did("request in a rolling restart")
	if a.unknown || a.status != http.StatusOK {
		m.violated("in a rolling restart a request is answered %v", a)
	}
}
