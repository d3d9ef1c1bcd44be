package system

import (
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/switches"
)

// Setting is a key of the configuration that the process was started with.
type Setting struct {
	Key     string
	Value   string // of a secret never the value
	Source  string // such as "default" or "flag --listen"
	Default string
	Help    string

	HelpChinese string // Help in Chinese; "": there is none
}

// protocol 7
var noSetting = &reply.Failure{Status: 404,
	Msg: "no setting of that name can be changed here: see the stored ones of GET /api/console/settings"}

// settingRecord shows a key of the configuration.
type settingRecord struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Source  string `json:"source"`
	Default string `json:"default"`
	Differs bool   `json:"differs"`
	Help    string `json:"help"`

	Chinese string `json:"-"` // Help in Chinese
}

// storedRecord shows a switch that is changed while the service runs.
type storedRecord struct {
	Name    string   `json:"name"`
	Value   string   `json:"value"`
	Default string   `json:"default"`
	Values  []string `json:"values"` // that it may have
	Help    string   `json:"help"`
}

type settingsRecord struct {
	Settings []settingRecord `json:"settings"` // what differs from its default first
	Stored   []storedRecord  `json:"stored"`
}

// listSettings serves GET /api/console/settings?q=.
func (s *System) listSettings(_ http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	q := strings.ToLower(strings.TrimSpace(r.URL.Query().Get("q")))
	v := settingsRecord{Settings: []settingRecord{}, Stored: []storedRecord{}}
	if s.c.Settings != nil {
		for _, one := range s.c.Settings() {
			if strings.Contains(strings.ToLower(one.Key+" "+one.Help+" "+one.HelpChinese), q) {
				v.Settings = append(v.Settings, settingRecord{one.Key, one.Value, one.Source, one.Default, one.Value != one.Default,
					one.Help, one.HelpChinese})
			}
		}
		slices.SortStableFunc(v.Settings, func(a, b settingRecord) int {
			switch {
			case a.Differs == b.Differs:
				return 0
			case a.Differs:
				return -1
			}
			return 1
		})
	}
	is, err := s.stored(r)
	if err != nil {
		return nil, err
	}
	for _, one := range switches.All() {
		if strings.Contains(strings.ToLower(one.Name+" "+one.Help), q) {
			v.Stored = append(v.Stored, recordOf(one, is[one.Name]))
		}
	}
	return v, nil
}

func recordOf(one switches.Switch, value string) storedRecord {
	if value == "" {
		value = one.Default
	}
	return storedRecord{one.Name, value, one.Default, one.Values, one.Help}
}

// stored returns the values of the stored settings.
func (s *System) stored(r *http.Request) (map[string]string, error) {
	all, err := s.c.Store.Settings(r.Context())
	is := map[string]string{}
	for _, one := range all {
		is[one.Name] = one.Value
	}
	return is, err
}

// changeSetting serves PATCH /api/console/settings.
func (s *System) changeSetting(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	name, value := "", ""
	if err := adminapi.ReadInto(w, r, adminapi.Text("name", &name), adminapi.Text("value", &value)); err != nil {
		return nil, err
	}
	_, value, err := s.c.Acts.Set(r.Context(), who, name, value)
	if err != nil {
		return nil, adminapi.Refusal(err, noSetting)
	}
	i := slices.IndexFunc(switches.All(), func(one switches.Switch) bool { return one.Name == name })
	return recordOf(switches.All()[i], value), nil
}
