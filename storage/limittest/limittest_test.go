package limittest

import "testing"

func inProcess(testing.TB) Service {
	counters := Local()
	return Service{Node: func() Counters { return counters }, Full: 1_000_000}
}

func TestCountersOfOneProcessKeepTheContract(t *testing.T) { RunInBubble(t, inProcess) }

func TestAMillionEventsOfOneProcessKeepTheContract(t *testing.T) {
	if testing.Short() {
		t.Skip("counts to a million")
	}
	AMillionInBubble(t, inProcess)
}
