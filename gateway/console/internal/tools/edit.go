package tools

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
)

// editing holds what the form of an update shows. It has no field for a secret.
type editing struct {
	Member  string
	Values  map[string]string
	Headers []headerRow
	New     []int // rows of the form for headers that are not there yet
}

// headerRow is a secret header in a form.
type headerRow struct {
	Row  int
	Name string
}

// newHeaders bounds how many headers can be added at once.
const newHeaders = 3

// newRows returns the numbers of rows that are empty, from one on.
func newRows(from int) (rows []int) {
	for i := range newHeaders {
		rows = append(rows, from+i)
	}
	return rows
}

// headersOf returns what a form says of headers: values to set by their names, nil for one to remove. It takes the
// values out of the form: one that is refused shows them no more.
func headersOf(r *http.Request) map[string]*string {
	headers := map[string]*string{}
	for i := 0; r.PostForm.Has("header_name_" + strconv.Itoa(i)); i++ {
		row := strconv.Itoa(i)
		name, value := strings.TrimSpace(r.PostForm.Get("header_name_"+row)), r.PostForm.Get("header_secret_"+row)
		r.PostForm.Del("header_secret_" + row)
		switch {
		case name == "" && value == "":
		case r.PostForm.Has("header_remove_" + row):
			headers[name] = nil
		case value != "" || r.PostForm.Has("header_new_"+row):
			headers[name] = &value
		}
	}
	return headers
}

// editFields are the fields of an update that are texts, as they are now.
func editFields(c storage.Capability) map[string]string {
	fields := map[string]string{
		"label": c.Label, "description": c.Description, "auth_type": cmp.Or(c.AuthType, "none"),
		"auth_name": c.AuthName, "auth_in": c.AuthIn,
		"webhook_url": c.WebhookURL, "timeout": strconv.Itoa(int(c.CallTimeout() / time.Second)),
	}
	told := c.Identity.Shown()
	fields["identity"], fields["identity_subject"], fields["identity_jti"] = told.Kind, cmp.Or(told.Subject, lasthop.Sub),
		cmp.Or(told.JTI, lasthop.On)
	if pins := c.Pins(); pins != "" {
		fields["pins"] = pins
	}
	return fields
}

// edit shows what an update may change of a capability.
func (t *Tools) edit(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	c, err := t.changeable(r, r.PathValue("member"), who)
	if err != nil {
		return nil, err
	}
	e := editing{Member: c.Member, Values: editFields(c)}
	for i, name := range c.HeaderNames() {
		e.Headers = append(e.Headers, headerRow{i, name})
	}
	e.New = newRows(len(e.Headers))
	return e, nil
}

// formText returns a text of a form as it was typed: browsers send CRLF for each end of a line.
func formText(r *http.Request, name string) string {
	return strings.TrimSpace(strings.ReplaceAll(r.PostForm.Get(name), "\r\n", "\n"))
}

// update changes what the form says otherwise than it did when it was opened, so that it takes back nothing that
// somebody else has changed meanwhile. A secret that is left empty stays.
func (t *Tools) update(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	headers := headersOf(r)
	fields := map[string]any{}
	for _, name := range []string{"auth_secret", "webhook_secret"} {
		if text := r.PostForm.Get(name); text != "" {
			fields[name] = text
		}
		r.PostForm.Del(name)
	}
	c, err := t.own(r, who)
	if err != nil {
		return nil, err
	}
	if len(headers) > 0 {
		fields["headers"] = headers
	}
	for name, was := range editFields(c) {
		text := formText(r, name)
		if r.PostForm.Has("was_" + name) {
			was = formText(r, "was_"+name)
		}
		ofKey := name == "auth_name" || name == "auth_in"
		ofSigned := name == "identity_subject" || name == "identity_jti"
		if text == was || !r.PostForm.Has(name) || ofKey && r.PostForm.Get("auth_type") != "api_key" ||
			ofSigned && r.PostForm.Get("identity") != lasthop.Signed {
			continue
		}
		fields[name] = text
		if name == "timeout" && text == "" {
			fields[name] = nil
		} else if name == "timeout" {
			if fields[name], err = strconv.Atoi(text); err != nil {
				return nil, adminapi.BadBody.Saying("timeout is not a number")
			}
		}
	}
	if len(fields) == 0 {
		return nil, nil
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	_, _, err = t.c.Registry.UpdateBody(who.In(r.Context()), who.User, c.Member, body)
	return nil, err
}
