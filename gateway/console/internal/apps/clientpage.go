package apps

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/storage/client"
)

// clientActs are those on the page of a client. The client is named by the address of the page,
// and by no form.
func (s *Apps) clientActs() map[string]ui.Act {
	act := func(says string, do ui.Action, done string) ui.Act {
		return ui.Act{Says: says, Do: do, Done: done, May: []consoleauth.Check{admin.Actor.Admin},
			To: func(result any, path string) string {
				return path + "?id=" + url.QueryEscape(result.(clientFacts).ClientID)
			}}
	}
	id := func(v clientFacts) any { return v.ClientID }
	all := map[string]ui.Act{
		"trust": act("Trust the host of an agent", s.onClient(s.setHost, "host", hostOf, "policy", client.Trusted),
			"The host is trusted."),
		"deny": act("Deny the host of an agent", s.onClient(s.setHost, "host", hostOf, "policy", client.Denied),
			"The host is denied."),
		"unsay": act("Leave a host of agents to the configuration", s.onClient(s.unsay, "host", hostOf),
			"The configuration decides about the host again."),
		"refetch": act("Read the document of an agent again", s.onClient(s.refetch, "client_id", id),
			"The document is read again at the next sign-in."),
		"disable": act("Disable an agent", s.onClient(s.setClient, "client_id", id, "disabled", true),
			"The agent is disabled."),
		"enable": act("Enable an agent", s.onClient(s.setClient, "client_id", id, "disabled", false),
			"The agent is enabled."),
		"forget": act("Remove an agent", s.onClient(s.forgetClient, "client_id", id), "The agent is removed."),
	}
	for name, f := range map[string]struct {
		says   string
		do     ui.Action
		fields map[string]ui.Kind
	}{
		"admit":  {"Change who may use an agent", s.setClient, map[string]ui.Kind{"allow": ui.Lines, "deny": ui.Lines}},
		"learns": {"Change what an agent learns of its users", typedClaims(s.setClient), learnsFields},
	} {
		one := act(f.says, s.onClient(f.do, "client_id", id), "The agent is changed.")
		one.Fields = f.fields
		all[name] = one
	}
	forget := all["forget"]
	forget.To = func(any, string) string { return "/console/clients" }
	all["forget"] = forget
	return all
}

func hostOf(v clientFacts) any { return v.Host }

// onClient runs an action with fields, given as name, value, name, value, for the client of the page. A
// value may be a function of the client.
func (s *Apps) onClient(do ui.Action, fields ...any) ui.Action {
	return func(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
		shown, err := s.showClient(w, r, who)
		if err != nil {
			return nil, err
		}
		f, err := adminapi.ReadFields(w, r, admissionFields...) // of the form, if it has any
		if err != nil {
			return nil, err
		}
		f = maps.Clone(f)
		for i := 0; i < len(fields); i += 2 {
			value := fields[i+1]
			if of, ok := value.(func(clientFacts) any); ok {
				value = of(shown.(clientFacts))
			}
			if f[fields[i].(string)], err = json.Marshal(value); err != nil {
				return nil, err
			}
		}
		_, err = do(w, adminapi.WithFields(r, f), who)
		return shown, err
	}
}

// unsay forgets the host that a form names.
func (s *Apps) unsay(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	host, err := adminapi.ReadText(w, r, "host", "")
	if err != nil {
		return nil, err
	}
	return s.forgetNamed(r, who, host)
}

// hostActs are those on the page of the hosts.
func (s *Apps) hostActs() map[string]ui.Act {
	administrator := []consoleauth.Check{admin.Actor.Admin}
	return map[string]ui.Act{
		"set": {Says: "Set the policy of a host of agents", Do: s.setHost, May: administrator,
			Done: "The host has this policy now.", Fields: map[string]ui.Kind{"host": ui.Text, "policy": ui.Text}},
		"unsay": {Says: "Leave a host of agents to the configuration", Do: s.unsay, May: administrator,
			Done: "The configuration decides about the host again.", Fields: map[string]ui.Kind{"host": ui.Text}},
	}
}
