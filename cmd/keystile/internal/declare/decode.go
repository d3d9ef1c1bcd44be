package declare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// into decodes the fields of a document into a record whose members are pointers, and refuses those that it has not.
func into(d Document, record any) error {
	known := fieldsOf(record)
	for _, name := range slices.Sorted(maps.Keys(d.Fields)) {
		if !slices.Contains(known, name) {
			return d.wrong("there is no field %s: there are %s", name, strings.Join(known, ", "))
		}
	}
	text, err := json.Marshal(d.Fields)
	if err != nil {
		return err
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(record); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return d.wrong("%s must be %s", wrong.Field, inWords(wrong.Type))
		}
		return d.wrong("%w", err)
	}
	return nil
}

// fieldsOf returns the names that a record has in JSON.
func fieldsOf(record any) (names []string) {
	t := reflect.TypeOf(record).Elem()
	for i := range t.NumField() {
		if part := t.Field(i); part.Anonymous {
			names = append(names, fieldsOf(reflect.New(part.Type).Interface())...)
			continue
		}
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func inWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	}
	return "an object"
}

// sub returns the sub of a user whom a document names, "" for nobody.
func (a *Applier) sub(ctx context.Context, d Document, field, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	u, err := a.c.User(ctx, name)
	if errors.Is(err, storage.ErrNotFound) {
		err = d.wrong("%s: there is no user %q", field, name)
	}
	return u.Sub, err
}

// owner returns an owner as it is stored: a user by sub, or group:NAME. The run may be about to make the group.
func (a *Applier) owner(ctx context.Context, d Document, name string) (string, error) {
	group, is := access.OwningGroup(name)
	if !is {
		return a.sub(ctx, d, "owner", name)
	}
	if a.fresh[group] {
		return name, nil
	}
	_, err := a.c.Store.Group(ctx, group)
	if errors.Is(err, storage.ErrNotFound) {
		err = d.wrong("owner: there is no group %q: declare it too", group)
	}
	return name, err
}

// subs returns the subs of users, sorted and each once.
func (a *Applier) subs(ctx context.Context, d Document, field string, names []string) ([]string, error) {
	all := []string{}
	for _, name := range names {
		sub, err := a.sub(ctx, d, field, name)
		if err != nil {
			return nil, err
		}
		all = append(all, sub)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// subject returns a subject as it is stored: a user by sub.
func (a *Applier) subject(ctx context.Context, d Document, text string) (string, error) {
	kind, name, _ := strings.Cut(text, ":")
	if kind == access.SubjectUser {
		sub, err := a.sub(ctx, d, "subject", name)
		return kind + ":" + sub, err
	}
	if _, err := access.ParseSubject(text); err != nil {
		return "", d.wrong("%w", err)
	}
	return text, nil
}

// outdated reports whether subjects name a group that was made after they were written: it is not the group that they
// mean, so they are written again.
func (a *Applier) outdated(ctx context.Context, subjects []string, written time.Time) (bool, error) {
	for _, text := range subjects {
		name, is := strings.CutPrefix(text, access.SubjectGroup+":")
		if !is {
			continue
		}
		if a.fresh[name] {
			return true, nil
		}
		g, err := a.c.Store.Group(ctx, name)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return false, err
		}
		if err == nil && g.Since().After(written) {
			return true, nil
		}
	}
	return false, nil
}

// username returns what a user is called in a document: by username, and by sub where they are gone.
func (a *Applier) username(ctx context.Context, sub string) (string, error) {
	if sub == "" {
		return "", nil
	}
	u, err := a.c.Store.User(ctx, sub)
	if errors.Is(err, storage.ErrNotFound) {
		return sub, nil
	}
	return u.Username, err
}

// named returns a subject as a document has it: a user by username.
func (a *Applier) named(ctx context.Context, subject string) (string, error) {
	kind, name, _ := strings.Cut(subject, ":")
	if kind != access.SubjectUser {
		return subject, nil
	}
	username, err := a.username(ctx, name)
	return kind + ":" + username, err
}

// ruleDoc is an access rule in a document.
type ruleDoc struct {
	Subject  string   `json:"subject"`
	Deny     bool     `json:"deny,omitempty"`
	Tools    []string `json:"tools,omitempty"`
	ReadOnly bool     `json:"read_only,omitempty"`
}

// exported returns rules as a document is to have them.
func (a *Applier) exported(ctx context.Context, stored []access.Rule) ([]ruleDoc, error) {
	all := rules(stored)
	for i := range all {
		var err error
		if all[i].Subject, err = a.named(ctx, all[i].Subject); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// asWritten returns the rules of a list as an object to compare; ones that are outdated are like no others.
func (a *Applier) asWritten(ctx context.Context, l access.List) (value, error) {
	var allowed []string
	for _, r := range l.Rules {
		if !r.Deny {
			allowed = append(allowed, r.Subject)
		}
	}
	old, err := a.outdated(ctx, allowed, l.UpdatedAt)
	v := valueOf(rules(l.Rules))
	if old {
		v = value{word: v.text + " of another group"}
	}
	return v, err
}

// rules returns rules as documents have them, in one order.
func rules(stored []access.Rule) []ruleDoc {
	all := make([]ruleDoc, len(stored))
	for i, r := range stored {
		all[i] = ruleDoc{r.Subject, r.Deny, r.Tools, r.ReadOnly}
	}
	return sorted(all)
}

func sorted(all []ruleDoc) []ruleDoc {
	slices.SortFunc(all, func(x, y ruleDoc) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
	return all
}

// ruled checks the rules of a document, and returns them as they are stored.
func (a *Applier) ruled(ctx context.Context, d Document, typed []ruleDoc) ([]ruleDoc, error) {
	all := []ruleDoc{}
	for _, r := range typed {
		subject, err := a.subject(ctx, d, r.Subject)
		if err != nil {
			return nil, err
		}
		r.Subject = subject
		if r.Tools = slices.Compact(slices.Sorted(slices.Values(r.Tools))); len(r.Tools) == 0 {
			r.Tools = nil
		}
		all = append(all, r)
	}
	return sorted(all), nil
}

// stored returns the rules of a document as acts take them.
func stored(typed []ruleDoc) []access.Rule {
	all := make([]access.Rule, len(typed))
	for i, r := range typed {
		all[i] = access.Rule{Subject: r.Subject, Deny: r.Deny, Tools: r.Tools, ReadOnly: r.ReadOnly}
	}
	return all
}

// pages returns all pages of a list.
func pages[T any](page func(from string) ([]T, string, error)) (all []T, err error) {
	for from := ""; ; {
		some, next, err := page(from)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if from = next; next == "" {
			return all, nil
		}
	}
}

// document returns a document of a record, without the fields that are as they would be without it.
func document(kind, name string, record any) (Document, error) {
	text, err := json.Marshal(record)
	if err != nil {
		return Document{}, err
	}
	d := Document{Kind: kind, Name: name}
	if err := json.Unmarshal(text, &d.Fields); err != nil {
		return d, err
	}
	for field, value := range d.Fields {
		if slices.Contains([]string{`""`, `[]`, `false`, `null`, `0`, `{}`}, string(value)) {
			delete(d.Fields, field)
		}
	}
	return d, nil
}
