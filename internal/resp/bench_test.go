package resp

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkPing compares a PING with the floor of the same run, by turns: a connection for each caller, which
// writes a PING and reads what comes.
func BenchmarkPing(b *testing.B) {
	address := os.Getenv("KEYSTILE_TEST_REDIS_URL")
	if address == "" {
		b.Skip(`KEYSTILE_TEST_REDIS_URL is not set: eval "$(.ci/redis start DIR)"`)
	}
	target, err := Parse(address)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	c, err := Dial(ctx, target, target.Addresses[0], time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			var mu sync.Mutex
			var pings, floors []time.Duration
			var group sync.WaitGroup
			for range callers {
				nc, err := net.Dial("tcp", target.Addresses[0])
				if err != nil {
					b.Fatal(err)
				}
				defer nc.Close()
				group.Go(func() {
					var ping, floor []time.Duration
					room := make([]byte, 64)
					for range max(1, b.N/callers) {
						began := time.Now()
						nc.Write([]byte("PING\r\n"))
						nc.Read(room)
						middle := time.Now()
						c.Do(middle.Add(time.Second), "PING")
						ping, floor = append(ping, time.Since(middle)), append(floor, middle.Sub(began))
					}
					mu.Lock()
					defer mu.Unlock()
					pings, floors = append(pings, ping...), append(floors, floor...)
				})
			}
			group.Wait()
			slices.Sort(pings)
			slices.Sort(floors)
			b.ReportMetric(float64(pings[len(pings)/2])/1e3, "p50-us")
			b.ReportMetric(float64(pings[len(pings)/2])/float64(floors[len(floors)/2]), "p50/floor")
		})
	}
}
