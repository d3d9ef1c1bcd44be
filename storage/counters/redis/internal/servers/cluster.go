package servers

import (
	"cmp"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/resp"
)

const (
	mostNodes     = 1000
	mostRedirects = 5 // of one command
	readAgain     = time.Second
)

var errNoMaster = resp.Error("CLUSTERDOWN no server has the slot of a key")

// cluster knows which of its servers has which slot. While one of its masters is away, none is asked: judging by
// part of the slots would need a state for each, and a failover takes seconds.
type cluster struct {
	client *Client

	mu      sync.Mutex
	nodes   map[string]*node // by address
	slots   [slots]*node
	reading bool
	read    time.Time // when the slots were
}

// owner is a range of slots and the address of their server.
type owner struct {
	from, to int
	address  string
}

// readSlots asks a member of a cluster who has which slots.
func readSlots(by time.Time, conn *resp.Conn, of string) ([]owner, error) {
	v, err := conn.Do(by, "CLUSTER", "SLOTS")
	if err != nil {
		return nil, err
	}
	if v.Kind != resp.List {
		return nil, resp.ErrOther
	}
	var all []owner
	masters := map[string]bool{}
	for _, r := range v.List {
		o, err := ownerOf(r, of)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
		masters[o.address] = true
	}
	if len(masters) > mostNodes {
		return nil, resp.ErrOther
	}
	return all, nil
}

// ownerOf reads from, to, and the master, whose host is nil or empty if it is the one that answers.
func ownerOf(r resp.Value, of string) (o owner, err error) {
	if len(r.List) < 3 || len(r.List[2].List) < 2 {
		return o, resp.ErrOther
	}
	from, err1 := r.List[0].Int64()
	to, err2 := r.List[1].Int64()
	port, err3 := r.List[2].List[1].Int64()
	if err := errors.Join(err1, err2, err3); err != nil {
		return o, err
	}
	if from < 0 || to >= slots || from > to || port < 1 || port > 65535 {
		return o, resp.ErrOther
	}
	address, err := beside(of, r.List[2].List[0].Text, strconv.FormatInt(port, 10))
	return owner{int(from), int(to), address}, err
}

// beside returns an address; one without a host is on that of another.
func beside(of, host, port string) (string, error) {
	own, _, err := net.SplitHostPort(of)
	if host == "?" {
		host = ""
	}
	return net.JoinHostPort(cmp.Or(host, own), port), err
}

// use takes over the slots that were read. It leaves servers that have none any more.
func (c *cluster) use(found []owner) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read, c.slots = time.Now(), [slots]*node{}
	kept := map[string]*node{}
	for _, o := range found {
		n := c.nodes[o.address]
		if n == nil {
			n = kept[o.address]
		}
		if n == nil {
			n = c.client.node(at(o.address))
		}
		kept[o.address] = n
		for i := o.from; i <= o.to; i++ {
			c.slots[i] = n
		}
	}
	for address, n := range c.nodes {
		if kept[address] == nil {
			n.close()
		}
	}
	c.nodes = kept
}

// do asks who has a slot, and goes where it is sent.
func (c *cluster) do(by time.Time, key string, command resp.Command) (v resp.Value, err error) {
	slot, asking := slotOf(key), false
	c.mu.Lock()
	n := c.slots[slot]
	c.mu.Unlock()
	for range mostRedirects {
		if n == nil {
			c.readAgain()
			return v, errNoMaster
		}
		conn, err := n.get(by)
		if err != nil {
			return v, err
		}
		if asking {
			v, err = ask(by, conn, command)
		} else {
			v, err = conn.Do(by, command...)
		}
		var said resp.Error
		if !errors.As(err, &said) {
			return v, err
		}
		to, ask, sent := redirected(string(said), n.at())
		if !sent {
			return v, err
		}
		if n, asking = c.at(to), ask; !ask {
			c.readAgain()
		}
	}
	return v, errNoMaster
}

// ask has a server do a command on a slot that is being moved to it.
func ask(by time.Time, conn *resp.Conn, command resp.Command) (v resp.Value, err error) {
	all, err := conn.All(by, resp.Command{"ASKING"}, command)
	if err != nil {
		return v, err
	}
	return all[1], all[1].Err()
}

// redirected reads where an error sends to: "MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381".
func redirected(said, by string) (to string, ask, sent bool) {
	words := strings.Fields(said)
	if len(words) != 3 || words[0] != "MOVED" && words[0] != "ASK" {
		return "", false, false
	}
	i := strings.LastIndexByte(words[2], ':') // hosts of IPv6 stand there without brackets
	if i < 0 {
		return "", false, false
	}
	to, err := beside(by, words[2][:i], words[2][i+1:])
	return to, words[0] == "ASK", err == nil
}

// at returns the server at an address; nil if there are too many.
func (c *cluster) at(address string) *node {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[address]
	if n == nil && len(c.nodes) < mostNodes {
		n = c.client.node(at(address))
		c.nodes[address] = n
	}
	return n
}

// readAgain has the slots read, by the first who can tell them, unless that was just done.
func (c *cluster) readAgain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reading || time.Since(c.read) < readAgain {
		return
	}
	c.reading = true
	go func() {
		found, err := c.ask()
		if err == nil {
			c.use(found)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.reading, c.read = false, time.Now()
	}()
}

func (c *cluster) ask() (found []owner, err error) {
	c.mu.Lock()
	all := make([]*node, 0, len(c.nodes))
	for _, n := range c.nodes {
		all = append(all, n)
	}
	c.mu.Unlock()
	err = errNoMaster
	for _, n := range all {
		by := time.Now().Add(c.client.c.Dialling)
		conn, failed := n.get(by)
		if failed == nil {
			found, failed = readSlots(by, conn, n.at())
		}
		if err = failed; err == nil {
			return found, nil
		}
	}
	return nil, err
}

func (c *cluster) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		n.close()
	}
}
