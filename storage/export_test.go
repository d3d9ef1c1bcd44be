package storage

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/toolplan"
)

// WriteForTest writes documents as the typed methods do.
func (s *Store) WriteForTest(ctx context.Context, docs ...driver.Doc) error {
	_, err := s.write(ctx, docs...)
	return err
}

// KindForTest is a kind of typed documents, without its type.
type KindForTest interface {
	NameForTest() string
	// WriteNewForTest returns the document of a record with something in each field.
	WriteNewForTest(s *Store, fill func(record any)) (driver.Doc, error)
	// RewriteForTest reads a document, changes the record and writes it.
	RewriteForTest(s *Store, d driver.Doc, change func(record any)) (driver.Doc, error)

	wholly(s *Store, d driver.Doc) error
}

// KindsForTest lists all kinds, by the name of their variable.
func KindsForTest() map[string]KindForTest {
	return map[string]KindForTest{
		"accessLists": accessLists, "adminFences": adminFences, "apiKeyFences": apiKeyFences, "apiKeys": apiKeys, "apps": apps, "beats": beats, "bundles": bundles, "capabilities": capabilities, "checkpoints": checkpoints, "clientHosts": clientHosts,
		"capabilityFences": capabilityFences, "closedApps": closedApps, "consents": consents, "counters": counters,
		"deliveries": deliveries, "epochs": epochs, "erasures": erasures, "factors": factors, "fences": fences,
		"formats": formats, "heldTools": heldTools, "hmacKeys": hmacKeys, "invitations": invitations,
		"keySets": keySets, "keyedCalls": keyedCalls, "leases": leases, "streams": streams,
		"usageMarks": usageMarks,
		"logins":     logins, "mails": mails, "memberNames": memberNames, "openIDs": openIDs,
		"orders": orders, "probes": probes, "rankings": rankings, "sessions": sessions, "settings": settings, "signingKeys": signingKeys, "skeletonMarks": skeletonMarks, "skeletons": skeletons, "spents": spents,
		"tickets": tickets, "timeMarks": timeMarks, "toolsets": toolsets, "users": users,
	}
}

func (k kind[T]) NameForTest() string { return k.name }

func (k kind[T]) WriteNewForTest(s *Store, fill func(any)) (driver.Doc, error) {
	var v T
	fill(&v)
	for _, secret := range k.known(&v) {
		*secret = NewSecret("what is secret")
	}
	return k.doc(s, v)
}

func (k kind[T]) RewriteForTest(s *Store, d driver.Doc, change func(any)) (driver.Doc, error) {
	v, err := k.record(s, d)
	if err != nil {
		return d, err
	}
	if k.memo != nil { // as a record that was read before
		memo := k.memo(s)
		memo.put(d.ID, d.Version, v)
		v, _ = memo.get(d.ID, d.Version)
	}
	change(&v)
	return k.doc(s, v)
}

// SealForTest seals a text for a place in a document.
func (s *Store) SealForTest(text string, d driver.Doc, field string) []byte {
	return s.sealer.Load().seal(text, place(d.Kind, d.ID, field))
}

// PackForTest packs tools as a newer version has written them.
func PackForTest(tools []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(tools)
	w.Close()
	return out.Bytes()
}

// UnpackForTest reads packed tools.
func UnpackForTest(packed []byte) ([]toolplan.Tool, error) { return unpack(packed) }

// ToolsForTest returns the JSON of the stored tools of a capability.
func ToolsForTest(ctx context.Context, s *Store, member string) []byte {
	t, err := toolsets.get(ctx, s, member)
	if err != nil {
		return []byte(err.Error())
	}
	r, err := gzip.NewReader(bytes.NewReader(t.Packed))
	if err != nil {
		return []byte(err.Error())
	}
	text, _ := io.ReadAll(r)
	return text
}

// ForgetFeatureForTest makes this version one that does not know a feature, until the
// function it returns is called.
func ForgetFeatureForTest(name string) (restore func()) {
	all := features
	features = slices.DeleteFunc(slices.Clone(all), func(f Feature) bool { return f.Name == name })
	return func() { features = all }
}

// AgeForTest makes a document what a version before search and counts would have written.
func AgeForTest(d *driver.Doc) {
	d.Data = bytes.Replace(d.Data, []byte(`,"counted":true`), nil, 1)
	d.Index = slices.DeleteFunc(d.Index, func(e string) bool { return strings.HasPrefix(e, "find") || d.Kind == counters.name })
	if d.Kind == counters.name && d.ID != numbersOfUsers || d.Kind == formats.name {
		d.Deleted = true
	}
}

// OpenOn is Open in a process on a machine whose clocks are read like this.
func OpenOn(ctx context.Context, b driver.Backend, read func() (wall time.Time, ran time.Duration), keys ...MasterKey) (*Store, error) {
	return open(ctx, b, func() clockReading {
		wall, ran := read()
		return clockReading{wall, ran}
	}, keys)
}

// AskClock asks the store what time it is, as a serving process does every two seconds.
func (s *Store) AskClock(ctx context.Context) error {
	_, err := s.clock.store.ask(ctx)
	return err
}
