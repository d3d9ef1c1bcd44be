package serving

// Plant is a fault that can be built into the program, to see whether a campaign finds it.
type Plant struct {
	Name    string
	changes []change
}

// change replaces a text that stands in a file once.
type change struct{ file, old, new string }

// Names are those of the Plants.
func Names() (all []string) {
	for _, p := range Plants {
		all = append(all, p.Name)
	}
	return all
}

// Plants are faults that a kill brings to light, each of them a mistake that somebody could make.
var Plants = []Plant{
	{"journal", []change{{ // a call is answered before it is in the journal
		"gateway/internal/ledger/ledger.go",
		"\tl.note(e)\n\tif l.open.add(e) {",
		"\tif l.open.add(e) {",
	}}},
	{"user", []change{{ // a user is answered and made a little later
		"storage/user.go",
		"\t\tu.Version, err = s.writeUser(ctx, u, by, last, along)\n",
		"\t\tif u.Role != RoleAdmin {\n\t\t\tgo func() { time.Sleep(20 * time.Millisecond); s.writeUser(context.Background(), u, by, last, along) }()\n\t\t\treturn u, nil\n\t\t}\n" +
			"\t\tu.Version, err = s.writeUser(ctx, u, by, last, along)\n",
	}}},
	{"write", []change{{ // one write in 400 is answered and not done
		"storage/bolt/writer.go",
		"\t\"slices\"\n",
		"\t\"slices\"\n\t\"sync/atomic\"\n",
	}, {
		"storage/bolt/writer.go",
		"func (s *Store) write(ctx context.Context, do func(*bbolt.Tx) error) error {\n",
		"var written atomic.Int64\n\nfunc (s *Store) write(ctx context.Context, do func(*bbolt.Tx) error) error {\n\tif written.Add(1)%400 == 0 {\n\t\treturn nil\n\t}\n",
	}}},
}
