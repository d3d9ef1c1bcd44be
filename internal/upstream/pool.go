package upstream

import (
	"cmp"
	"net/http"
	"sync"
	"time"
)

// look bounds the time from one look of the pool at its connections to the next.
const look = 10 * time.Second

// pool holds the connections that are idle. Of a host, the one that was used last is used next, so that those that are
// too many grow old. They are counted in ticks of a timer, which runs only while there are some: a call reads no clock.
type pool struct {
	perHost int
	all     int              // 0: no bound
	every   time.Duration    // of the ticks
	age     uint64           // ticks after which one is closed; 0: never
	silent  func(*conn) bool // see Transport

	mu    sync.Mutex
	hosts map[string]*stack
	n     int
	ticks uint64
	timer *time.Timer // nil: none runs
	shut  bool        // what becomes idle is closed, until the next request
}

// stack holds the idle connections of a host, the one that was used last at the end.
type stack struct{ conns []*conn }

func newPool(bounds *http.Transport, silent func(*conn) bool) *pool {
	p := &pool{all: bounds.MaxIdleConns, silent: silent, every: look, hosts: map[string]*stack{}}
	p.perHost = cmp.Or(bounds.MaxIdleConnsPerHost, http.DefaultMaxIdleConnsPerHost)
	if life := bounds.IdleConnTimeout; life > 0 {
		p.every = min(look, max(life/8, time.Millisecond))
		p.age = uint64((life+p.every-1)/p.every) + 1 // the first one has begun before
	}
	return p
}

// get returns an idle connection of a host on which nothing has come; nil if there is none.
func (p *pool) get(host string) *conn {
	for {
		c := p.pop(host)
		if c == nil || p.silent(c) {
			return c
		}
		c.Close()
	}
}

func (p *pool) pop(host string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = false
	s := p.hosts[host]
	if s == nil || len(s.conns) == 0 {
		return nil
	}
	last := len(s.conns) - 1
	c := s.conns[last]
	s.conns[last] = nil
	s.conns = s.conns[:last]
	p.n--
	return c
}

// put takes a connection whose exchange is over. Where there are too many it closes one: this one if they are of its
// host, else the one that has been idle for the longest time.
func (p *pool) put(c *conn) {
	if over := p.add(c); over != nil {
		over.Close()
	}
}

func (p *pool) add(c *conn) (over *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.hosts[c.host]
	if p.shut || s != nil && len(s.conns) >= p.perHost {
		return c
	}
	if s == nil {
		s = &stack{}
		p.hosts[c.host] = s
	}
	if p.timer == nil {
		p.timer = time.AfterFunc(p.every, p.tick)
	}
	if p.all > 0 && p.n >= p.all {
		over = p.oldest()
	}
	c.reused, c.tick = true, p.ticks
	s.conns = append(s.conns, c)
	p.n++
	return over
}

// oldest takes the connection out that has been idle for the longest time.
func (p *pool) oldest() *conn {
	var of *stack
	for _, s := range p.hosts {
		if len(s.conns) > 0 && (of == nil || s.conns[0].tick < of.conns[0].tick) {
			of = s
		}
	}
	c := of.conns[0]
	of.drop(1)
	p.n--
	return c
}

// drop takes out the n connections that have been idle for the longest time.
func (s *stack) drop(n int) {
	kept := copy(s.conns, s.conns[n:])
	clear(s.conns[kept:])
	s.conns = s.conns[:kept]
}

// tick closes the connections that have been idle for too long, and those that the service has closed.
func (p *pool) tick() {
	p.mu.Lock()
	p.ticks++
	over := p.sweep(func(c *conn) bool { return p.age > 0 && p.ticks-c.tick >= p.age || !p.silent(c) })
	p.timer = nil
	if len(p.hosts) > 0 {
		p.timer = time.AfterFunc(p.every, p.tick)
	}
	p.mu.Unlock()
	closeAll(over)
}

// close closes all that are idle, and those that are in use when they become idle.
func (p *pool) close() {
	p.mu.Lock()
	p.shut = true
	over := p.sweep(func(*conn) bool { return true })
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	p.mu.Unlock()
	closeAll(over)
}

// sweep takes connections out, and forgets the hosts that have none.
func (p *pool) sweep(out func(*conn) bool) (over []*conn) {
	for host, s := range p.hosts {
		kept := s.conns[:0]
		for _, c := range s.conns {
			if out(c) {
				over = append(over, c)
			} else {
				kept = append(kept, c)
			}
		}
		clear(s.conns[len(kept):])
		if s.conns = kept; len(kept) == 0 {
			delete(p.hosts, host)
		}
	}
	p.n -= len(over)
	return over
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		c.Close()
	}
}
