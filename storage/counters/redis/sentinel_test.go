package redis

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestMasterThatSentinelsNameCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three servers")
	}
	first := started(t)
	second := started(t, "--replicaof", "127.0.0.1", first.port)
	watcher := &process{t: t, port: freePort(t)}
	conf := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("bind 127.0.0.1\nport %s\nsentinel monitor primary 127.0.0.1 %s 1\n"+
		"sentinel down-after-milliseconds primary 1000\n", watcher.port, first.port)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	watcher.args = []string{first.args[0], conf, "--sentinel", "--dir", t.TempDir()}
	watcher.start()
	t.Cleanup(watcher.kill)

	address := "redis://127.0.0.1:1?master_set=primary&addr=127.0.0.1:" + watcher.port // the first sentinel is away
	c := openAt(t, address, Options{})
	n := node{c, nil, nil, newWatch()}
	if ok := n.admitted(10, 4); ok != 4 || first.do("LLEN", c.o.Prefix+":app:ks1") != "4" {
		t.Fatalf("%d admitted, %+v", ok, c.Stats())
	}
	c.wantConnected(t)

	s := rawAt(t, watcher.url())
	for s.do("SENTINEL", "REPLICAS", "primary").List == nil { // it has not found the replica yet
		runtime.Gosched()
	}
	for { // nor may it have heard of it for long enough
		if _, err := s.c.Do(soon(), "SENTINEL", "FAILOVER", "primary"); err == nil {
			break
		}
	}
	for master := ""; master != second.port; {
		master = s.do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "primary").List[1].Text
	}
	first.kill()
	for n.admitted(10, 1); second.do("EXISTS", c.o.Prefix+":app:ks2") == "0"; {
		n.Limiter().Allow(ctx, "ks2", 1_000_000, n.watch.now())
	}
	if !c.Stats().Connected {
		t.Errorf("%+v", c.Stats())
	}
}
