package dpop

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"
)

// A model that forgets nothing: whatever the memory forgets, it never takes a proof twice.
func TestMemoryTakesNoProofTwiceHoweverSmallItIs(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := memory{limit: 1 + r.IntN(50)}
		taken, now := map[uint64]bool{}, time.Now()
		nonces := []time.Time{now}
		firsts := 0
		for range 5000 {
			now = now.Add(time.Duration(r.IntN(4000)) * time.Millisecond)
			if r.IntN(10) == 0 {
				nonces = append(nonces, now)
			}
			nonce := nonces[max(0, len(nonces)-1-r.IntN(5))]
			n := uint64(nonce.UnixNano())<<8 + uint64(r.IntN(200)) // a proof has one nonce
			var id proofID
			binary.BigEndian.PutUint64(id[:], n)
			if now.Sub(nonce) >= nonceLife {
				continue // judged before the memory is asked
			}
			if m.add(id, nonce, now) == first {
				if firsts++; taken[n] {
					t.Fatalf("seed %d: taken twice", seed)
				}
				taken[n] = true
			}
			if len(m.now.seen) > m.limit || len(m.last.seen) > m.limit {
				t.Fatalf("%d and %d are remembered, of %d", len(m.now.seen), len(m.last.seen), m.limit)
			}
		}
		if firsts < 300 {
			t.Errorf("seed %d: only %d were taken", seed, firsts)
		}
	}
}
