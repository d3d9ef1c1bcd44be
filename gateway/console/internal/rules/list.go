package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

const (
	rows     = 50
	listed   = 30 // capabilities, each of whose lists is read: of up to 2,000 rules
	maxTools = 20 // of a rule or a bundle, as they are shown
)

// entry is a capability in the list.
type entry struct {
	Member    string `json:"member"`
	Label     string `json:"label"`
	Owner     string `json:"owner"`
	Published bool   `json:"published"`
	Rules     *int   `json:"rules"`  // nil: see the capability's own
	Allows    bool   `json:"allows"` // a rule allows: the default does not hold
}

// entries is a page of the list.
type entries struct {
	Default string  `json:"default"`
	By      origin  `json:"default_by"`
	Entries []entry `json:"capabilities"`
	Next    string  `json:"next"`
}

// standing is the default access in a word.
func (s *Rules) standing() string {
	if s.c.Bus.OpenToAll() {
		return storage.AccessEveryone
	}
	return storage.AccessOwner
}

// origin tells where the default access comes from.
type origin struct {
	Setting string      `json:"setting"`
	Value   string      `json:"value"`
	SignUp  string      `json:"signup"` // of the widest way, by which auto decides; "": it does not decide
	Ways    access.Ways `json:"ways"`   // by which people become users, where auto decides by them
}

// by tells where the default access comes from. A host may configure another default than the one that
// goes with its ways, so they are named only where they agree.
func (s *Rules) by() origin {
	o := origin{Setting: storage.SettingDefaultAccess, Value: s.c.Bus.OpenedBySetting(), Ways: access.Ways{}}
	if o.Value == storage.AccessAuto && len(s.c.Ways) > 0 && s.standing() == s.c.Ways.Default() {
		o.SignUp, o.Ways = s.c.Ways.SignUp(), s.c.Ways.NotClosed()
	}
	return o
}

// list serves GET /api/console/access. The lists of all capabilities are read in one step, because they
// stand in the same order; of one owner's they would not, so there they are not counted.
func (s *Rules) list(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	after, err := adminapi.AfterOf(r)
	if err != nil {
		return nil, err
	}
	owner, all := who.Sub, who.Reader() == nil
	if all {
		owner = ""
	}
	capabilities, next, err := s.c.Store.Capabilities(r.Context(), owner, after, listed)
	if err != nil {
		return nil, err
	}
	lists := map[string]access.List{}
	if all && len(capabilities) > 0 {
		some, _, err := s.c.Store.AccessLists(r.Context(), after, listed)
		if err != nil {
			return nil, err
		}
		for _, l := range some {
			lists[l.Member] = l
		}
	}
	record := entries{s.standing(), s.by(), []entry{}, next}
	for _, c := range capabilities {
		e := entry{Member: c.Member, Label: ui.Shown(c.Label, 100), Owner: c.Owner, Published: c.Publish}
		if all {
			n := len(lists[c.Member].Rules)
			e.Rules = &n
			e.Allows = allows(lists[c.Member].Rules)
		}
		record.Entries = append(record.Entries, e)
	}
	return record, nil
}

func allows(rules []access.Rule) bool {
	for _, r := range rules {
		if !r.Deny {
			return true
		}
	}
	return false
}

// rule is an access rule as it is shown.
type rule struct {
	ID       string   `json:"id"`
	Subject  string   `json:"subject"`
	Deny     bool     `json:"deny"`
	Tools    []string `json:"tools"` // none: all
	More     int      `json:"more"`  // tools that are not shown
	ReadOnly bool     `json:"read_only"`
	Operator bool     `json:"operator,omitempty"` // only operators take it away
}

// Kind returns what a rule is about: everyone, or a user, an app, a role or a tier.
func (r rule) Kind() string {
	kind, _, _ := strings.Cut(r.Subject, ":")
	return kind
}

// Name returns which one it is about; "" for everyone.
func (r rule) Name() string {
	_, name, _ := strings.Cut(r.Subject, ":")
	return name
}

func ruleOf(r access.Rule) rule {
	return rule{idOf(r), ui.Shown(r.Subject, 200), r.Deny, append([]string{}, r.Tools[:min(len(r.Tools), maxTools)]...),
		max(0, len(r.Tools)-maxTools), r.ReadOnly, r.Operator}
}

// idOf returns the same text for rules that say the same.
func idOf(r access.Rule) string {
	text, _ := json.Marshal([]any{r.Subject, r.Deny, r.Tools, r.ReadOnly}) // of texts
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:10])
}

// ruleList is the access list of a capability.
type ruleList struct {
	Member  string `json:"member"`
	Owner   string `json:"owner"`
	Default string `json:"default"`
	By      origin `json:"default_by"`
	Allows  bool   `json:"allows"`
	Count   int    `json:"count"`
	Rules   []rule `json:"rules"`
	Next    string `json:"next"`
	Mine    bool   `json:"-"` // the reader may change it
}

// show serves GET /api/console/access/{member}. after is a number: a list is one record.
func (s *Rules) show(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	from := 0
	if after := r.URL.Query().Get("after"); after != "" {
		n, err := strconv.Atoi(after)
		if err != nil || n < 0 || n > access.MaxRules {
			return nil, adminapi.BadQuery.Saying("after is the next of the page before, as it was sent")
		}
		from = n
	}
	c, err := s.capability(r, who)
	if err != nil {
		return nil, err
	}
	l, err := s.c.Store.Access(r.Context(), c.Member)
	if err != nil {
		return nil, err
	}
	record := ruleList{Member: c.Member, Owner: c.Owner, Default: s.standing(), By: s.by(),
		Allows: allows(l.Rules), Count: len(l.Rules), Rules: []rule{}, Mine: who.Changes(c.Owner)}
	for i := from; i < len(l.Rules); i++ {
		if i == from+rows {
			record.Next = strconv.Itoa(i)
			break
		}
		record.Rules = append(record.Rules, ruleOf(l.Rules[i]))
	}
	return record, nil
}

// capability returns one that somebody may see.
func (s *Rules) capability(r *http.Request, who admin.Actor) (storage.Capability, error) {
	c, err := s.c.Store.Capability(r.Context(), r.PathValue("member"))
	if errors.Is(err, storage.ErrNotFound) || err == nil && !who.Sees(c.Owner) {
		return c, noCapability
	}
	return c, err
}
