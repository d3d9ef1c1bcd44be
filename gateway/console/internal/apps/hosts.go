package apps

import (
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

// hostRecord shows what was said on a host.
type hostRecord struct {
	Host      string  `json:"host"`
	Policy    string  `json:"policy"` // trusted, denied; "": nothing is said any more
	UpdatedAt *string `json:"updated_at"`
}

func hostRecordOf(h client.Host) hostRecord {
	return hostRecord{h.Host, h.Policy(), timeOf(h.UpdatedAt)}
}

// hostList is a page of hosts.
type hostList struct {
	Hosts []hostRecord `json:"hosts"`
	Next  string       `json:"next"` // send it as after for more; "": there is no more
}

// listHosts serves GET /api/console/clients/hosts?after=.
func (s *Apps) listHosts(_ http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	after, from := r.URL.Query().Get("after"), ""
	if after != "" {
		if client.CheckHost(after) != nil || len(after) > client.MaxID {
			return nil, adminapi.BadQuery.Saying("after is the next of the page before, as it was sent")
		}
		from = driver.After("all", after)
	}
	said, next, err := s.c.Store.ClientHostsFrom(r.Context(), from, adminapi.PageSize)
	if err != nil {
		return nil, err
	}
	v := hostList{Hosts: []hostRecord{}}
	if next != "" {
		v.Next = said[len(said)-1].Host
	}
	for _, h := range said {
		v.Hosts = append(v.Hosts, hostRecordOf(h))
	}
	return v, nil
}

// setHost serves POST /api/console/clients/hosts.
func (s *Apps) setHost(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	host, policy := "", ""
	if err := adminapi.ReadInto(w, r, adminapi.Text("host", &host), adminapi.Text("policy", &policy)); err != nil {
		return nil, err
	}
	if policy != client.Trusted && policy != client.Denied {
		return nil, badWord
	}
	after, _, err := s.c.Clients.SetHost(r.Context(), who, host, policy == client.Denied)
	return hostRecordOf(after), adminapi.Refusal(err, noHost)
}

// forgetHost serves DELETE /api/console/clients/hosts/{host}.
func (s *Apps) forgetHost(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if err := adminapi.NoFields(w, r); err != nil {
		return nil, err
	}
	return s.forgetNamed(r, who, r.PathValue("host"))
}

func (s *Apps) forgetNamed(r *http.Request, who admin.Actor, typed string) (any, error) {
	before, err := s.c.Clients.ForgetHost(r.Context(), who, typed)
	return hostRecord{Host: before.Host}, adminapi.Refusal(err, noHost)
}
