package system

import (
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/admin"
)

// group shows the settings of a kind: those that were set, and those that have their defaults.
type group struct {
	Title, Says string
	Set, Unset  []settingRecord
}

// groups are the kinds, with the first words of their keys. Those without a kind come last.
var groups = []struct{ title, says, words string }{
	{"Addresses and the store", "Where the service is reached, and where it keeps its records.",
		" config data listen base_url storage_url storage redis_url node_name master_key master_key_file trusted_proxies " +
			"drain "},
	{"Signing in", "Who becomes a user, what they prove, and how long that lasts.",
		" signup signin login_lock login_types mfa account lifetimes reuse_leeway logout admin "},
	{"Providers", "Where else people may sign in.", " connectors fake_providers "},
	{"Mail", "How the service sends mail.", " mail "},
	{"Tokens and agents", "How tokens are signed, and who may register.",
		" signing_alg id_token_algs claims agents openid "},
	{"Gateway", "What calls may cost, and how long an answer may be.",
		" gateway products limits streams billing cors legacy "},
	{"Tools", "Where tools may call, and what the MCP server answers.", " mcp bus registry upstreams openapi "},
	{"Records", "What is written down, and who is told.", " audit log otel user_events demo "},
	{"Others", "What belongs to nothing above.", ""},
}

// settingsPageData is settingsRecord for people.
type settingsPageData struct {
	settingsRecord
	Groups []group
	Sought bool // something was searched for: nothing is folded
}

// browseSettings is listSettings for a page.
func (s *System) browseSettings(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	all, err := s.listSettings(w, r, who)
	if err != nil {
		return nil, err
	}
	v := settingsPageData{settingsRecord: all.(settingsRecord), Sought: r.URL.Query().Get("q") != ""}
	for _, g := range groups {
		v.Groups = append(v.Groups, group{Title: g.title, Says: g.says})
	}
	for _, one := range v.Settings {
		word, _, _ := strings.Cut(one.Key, ".")
		i := len(groups) - 1
		for at, g := range groups {
			if strings.Contains(g.words, " "+word+" ") {
				i = at
			}
		}
		if g := &v.Groups[i]; one.IsSet() {
			g.Set = append(g.Set, one)
		} else {
			g.Unset = append(g.Unset, one)
		}
	}
	v.Groups = slices.DeleteFunc(v.Groups, func(g group) bool { return len(g.Set)+len(g.Unset) == 0 })
	return v, nil
}

// IsSet reports whether somebody has set it, also to what is its default. A source such as "default: there is one node"
// says why the default is this one.
func (s settingRecord) IsSet() bool {
	if s.Source == "" {
		return s.Differs
	}
	return !strings.HasPrefix(s.Source, "default")
}

// Why returns why the default is this one; "": it is always that.
func (s settingRecord) Why() string {
	_, why, _ := strings.Cut(s.Source, "default: ")
	return why
}
