package main

// tally counts sign-ins of a simulation.
type tally struct {
	Asked, Served, GivenUp, Waiting float64

	Longest float64 // that the queue was, in seconds of what is held
	Cleared int     // second in which nobody waited any more
}

// day returns how many sign-ins a second a region has at some second of the simulation: the peak, which lasts.
func (w world) day(int) float64 { return w.SignIns / regions }

// failure plays one hour of regions that hold so much each, of which one is lost from second 600 on. Those
// who wait longer than patience give up; half of them try again once, a patience later.
func (w world) failure(each float64, share float64) (t tally) {
	const length, begin = 3600, 600
	again := make([]float64, length+2*patience)
	var queue []float64 // who waits, by the second of asking
	waiting := 0.0
	for now := range length {
		lost := now >= begin && now < begin+away
		held := each * regions
		arriving := w.day(now) * regions
		switch {
		case lost && now < begin+moved: // its people still ask it, and nobody answers
			held = each * (regions - 1)
			unheard := w.day(now)
			arriving -= unheard
			t.Asked, t.GivenUp = t.Asked+unheard, t.GivenUp+unheard
			again[now+moved-(now-begin)] += unheard * 0.5 // they come when they are led elsewhere
		case lost && now < begin+startAfter: // those whose primary it was cannot be signed in anywhere
			held = each * (regions - 1)
			unserved := arriving * share
			arriving -= unserved
			t.Asked, t.GivenUp = t.Asked+unserved, t.GivenUp+unserved
			again[now+patience] += unserved * 0.5
		case lost:
			held = each * (regions - 1)
		}
		arriving += again[now]
		t.Asked += arriving
		queue, waiting = append(queue, arriving), waiting+arriving
		for room := held; room > 0 && waiting > 0 && len(queue) > 0; {
			n := min(room, queue[0])
			queue[0], room, waiting, t.Served = queue[0]-n, room-n, waiting-n, t.Served+n
			if queue[0] == 0 {
				queue = queue[1:]
			}
		}
		if len(queue) > patience {
			t.GivenUp, waiting = t.GivenUp+queue[0], waiting-queue[0]
			again[now+patience] += queue[0] * 0.5
			queue = queue[1:]
		}
		t.Longest = max(t.Longest, waiting/held)
		if waiting > 1 {
			t.Cleared = now + 1
		}
	}
	t.Waiting = waiting
	return t
}
