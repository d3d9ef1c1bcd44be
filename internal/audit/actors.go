package audit

import (
	"encoding/binary"
	"slices"

	"github.com/keystile/keystile/storage/event"
)

// Actors are written as the array "act" behind the other texts, and queued behind them, each with its length in front.
const (
	actorName  = "act"
	actorLimit = 256 // bytes
	actorHead  = 2   // bytes of its length in the queue
)

// queuedActors returns those of an event that are queued. The others never are on the trail.
func queuedActors(e *Event) []string { return e.Actors[:min(len(e.Actors), event.MaxActors)] }

// queuedActor returns what is queued of one. As with other texts, at least one byte more than the limit stays. The
// event's own is left alone: it is part of a caller that is remembered.
func queuedActor(text string) string { return text[:min(len(text), actorLimit+1)] }

// weighActors returns how many bytes the actors of an event take in the queue.
func weighActors(e *Event) (size int) {
	for _, actor := range queuedActors(e) {
		size += actorHead + len(queuedActor(actor))
	}
	return size
}

// addActors queues the actors of an event, and returns how many they are.
func (b *buffer) addActors(e *Event) uint8 {
	all := queuedActors(e)
	for _, actor := range all {
		actor = queuedActor(actor)
		b.text = append(binary.BigEndian.AppendUint16(b.text, uint16(len(actor))), actor...)
	}
	return uint8(len(all))
}

// actors cuts as many actors off the texts that are stored next.
func (d *drain) actors(n uint8) (all []string) {
	if n == 0 {
		return nil
	}
	all = make([]string, n)
	for i := range all {
		size := actorHead + int(d.rest[0])<<8 + int(d.rest[1])
		all[i], d.rest = d.rest[actorHead:size], d.rest[size:]
	}
	return all
}

// tidyActors makes the actors of an event what is written of them.
func tidyActors(e *Event) {
	all := queuedActors(e)
	if len(all) == 0 {
		e.Actors = nil
		return
	}
	e.Actors = slices.Clone(all)
	for i := range e.Actors {
		e.Actors[i] = clean(queuedActor(e.Actors[i]), actorLimit)
	}
}

func appendActors(b []byte, all []string) []byte {
	if len(all) == 0 {
		return b
	}
	b = append(b, `,"`+actorName+`":`...)
	between := byte('[')
	for _, actor := range all {
		b = appendText(append(b, between), actor)
		between = ','
	}
	return append(b, ']')
}

// quotedAll cuts a JSON array of strings that stand for themselves off a text; false: that does not begin with one.
func quotedAll(text string) (all []string, rest string, ok bool) {
	if text == "" || text[0] != '[' {
		return nil, "", false
	}
	for text[0] != ']' {
		inner, rest, ok := quoted(text[1:])
		if !ok || rest == "" || rest[0] != ',' && rest[0] != ']' {
			return nil, "", false
		}
		all, text = append(all, inner), rest
	}
	return all, text[1:], true
}
