package apps

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

// Words on a host.
const (
	trusted = "trusted"
	denied  = "denied"
)

// wordOf returns what was said on a host, "" for the zero Host.
func wordOf(h client.Host) string {
	switch {
	case h.Host == "":
		return ""
	case h.Denied:
		return denied
	}
	return trusted
}

// hostRecord shows what was said on a host.
type hostRecord struct {
	Host      string  `json:"host"`
	Policy    string  `json:"policy"` // trusted, denied; "": nothing is said any more
	UpdatedAt *string `json:"updated_at"`
}

func hostRecordOf(h client.Host) hostRecord {
	return hostRecord{h.Host, wordOf(h), timeOf(h.UpdatedAt)}
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
		if _, err := checkHost(after); err != nil {
			return nil, manage.BadQuery.Saying("after is the next of the page before, as it was sent")
		}
		from = driver.After("all", after)
	}
	said, next, err := s.c.Store.ClientHostsFrom(r.Context(), from, manage.PageSize)
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

// checkHost checks a host that somebody has typed, and returns it as it is looked up.
func checkHost(typed string) (string, error) {
	host := strings.ToLower(strings.TrimSpace(typed))
	if err := client.CheckHost(host); err != nil || len(host) > client.MaxID {
		return "", badHost
	}
	return host, nil
}

// setHost serves POST /api/console/clients/hosts. Denying refuses first and ends tokens then, so that
// nothing is granted in between; denying again ends what a failure has left.
func (s *Apps) setHost(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := manage.ReadFields(w, r, "host", "policy")
	if err != nil {
		return nil, err
	}
	host, word := "", ""
	if err := errors.Join(f.Read("host", "a text", &host), f.Read("policy", "a text", &word)); err != nil {
		return nil, err
	}
	if host, err = checkHost(host); err != nil {
		return nil, err
	}
	if word != trusted && word != denied {
		return nil, badWord
	}
	before, err := s.c.Store.ClientHost(r.Context(), host)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, err
	}
	after, err := s.c.Store.SetClientHost(r.Context(), host, word == denied)
	if err != nil {
		return nil, manage.Refusal(err, noHost)
	}
	changes, failed := []string{changeOf("policy", wordOf(before), word)}, error(nil)
	if after.Denied {
		var ended int
		ended, failed = s.endHost(r.Context(), host)
		changes = append(changes, fmt.Sprintf("clients whose tokens ended: %d", ended))
	}
	if err := s.noteHost(r, who, "client host set", host, changes...); err != nil {
		return nil, err
	}
	if failed != nil { // it is denied: sent again, this ends the rest
		return nil, failed
	}
	return hostRecordOf(after), nil
}

func changeOf(name, before, after string) string {
	return fmt.Sprintf("%s %q -> %q", name, before, after)
}

func (s *Apps) noteHost(r *http.Request, who admin.Actor, what, host string, changes ...string) error {
	return s.c.Recorder.Note(r.Context(), who, admin.Act{What: what, On: host, Changes: changes})
}

// endHost ends what the clients of a host were granted, and returns how many these are. It reads the
// clients whose id begins with the host, and no others.
func (s *Apps) endHost(ctx context.Context, host string) (ended int, err error) {
	begin := client.DocumentPrefix + host + "/"
	from := driver.Is("client").From + begin
	for {
		page, next, err := s.c.Store.Clients(ctx, from, driver.Page)
		if err != nil {
			return ended, err
		}
		var ends []driver.Revocation
		for _, a := range page {
			if !strings.HasPrefix(a.ID, begin) {
				next = ""
				break
			}
			ends = append(ends, driver.Revocation{Kind: driver.RevokeApp, ID: a.ID})
		}
		if len(ends) > 0 {
			if err := s.c.Revoker.Revoke(ctx, ends...); err != nil {
				return ended, err
			}
		}
		for _, end := range ends {
			s.c.Forget(end.ID)
		}
		if ended += len(ends); next == "" {
			return ended, nil
		}
		from = next
	}
}

// forgetHost serves DELETE /api/console/clients/hosts/{host}: the configuration decides about it again.
func (s *Apps) forgetHost(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if err := manage.NoFields(w, r); err != nil {
		return nil, err
	}
	return s.forgetNamed(r, who, r.PathValue("host"))
}

func (s *Apps) forgetNamed(r *http.Request, who admin.Actor, typed string) (any, error) {
	host, err := checkHost(typed)
	if err != nil {
		return nil, err
	}
	before, err := storage.RetryOnConflict(r.Context(), func() (client.Host, error) {
		h, err := s.c.Store.ClientHost(r.Context(), host)
		if err == nil {
			err = s.c.Store.ForgetClientHost(r.Context(), h)
		}
		return h, err
	})
	if err != nil {
		return nil, manage.Refusal(err, noHost)
	}
	if err := s.noteHost(r, who, "client host forget", host, changeOf("policy", wordOf(before), "")); err != nil {
		return nil, err
	}
	return hostRecord{Host: host}, nil
}
