package storage_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func mail(kind, of string) storage.Mail {
	return storage.Mail{Kind: kind, Of: of, Content: storage.NewSecret("MAIL-CONTENT"),
		ExpiresAt: time.Now().UTC().Add(time.Hour)}
}

func addMail(t *testing.T, s *storage.Store, m storage.Mail) storage.Mail {
	t.Helper()
	m, err := s.AddMail(t.Context(), m)
	if err != nil {
		t.Fatalf("AddMail() = %v", err)
	}
	return m
}

func TestMailIsKeptSealedAndWithoutAName(t *testing.T) {
	backend := memory.New()
	s := opened(t, backend)
	m := addMail(t, s, mail("code", "ada@example.com"))
	doc, err := backend.Get(t.Context(), "mail", m.ID)
	if stored := fmt.Sprintf("%s %q", doc.Data, doc.Index); err != nil || strings.Contains(stored, "MAIL-CONTENT") ||
		strings.Contains(stored, "ada") {
		t.Errorf("stored as %s, %v", stored, err)
	}
	if got, err := s.Mail(t.Context(), m.ID); err != nil || !got.Content.Equal("MAIL-CONTENT") || got.Attempts != 0 ||
		got.CreatedAt.IsZero() || !got.NextAt.Equal(got.CreatedAt) {
		t.Errorf("Mail() = %+v, %v", got, err)
	}
}

func TestMailTakenByManyGoesToOne(t *testing.T) {
	s := opened(t, memory.New())
	m := addMail(t, s, mail("code", ""))
	m.NextAt = time.Now().Add(time.Minute)
	taken, err := s.SaveMail(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.SaveMail(t.Context(), m); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("SaveMail(taken) = %v, want ErrConflict", err)
	}
	if err := s.DeleteMail(t.Context(), m); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("DeleteMail(taken) = %v, want ErrConflict", err)
	}
	if err := errors.Join(s.DeleteMail(t.Context(), taken)); err != nil {
		t.Errorf("DeleteMail() = %v", err)
	}
	if _, err := s.Mail(t.Context(), m.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Mail(deleted) = %v", err)
	}
}

func TestMailsComeInTheOrderOfTheirTimeAndAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, memory.New())
		now := time.Now().UTC()
		// the third by a clock that was ahead
		for i, at := range []time.Duration{3 * time.Minute, time.Minute, 48 * time.Hour, 2 * time.Minute} {
			m := mail(fmt.Sprint("kind", i%2), fmt.Sprint("u", i))
			m.NextAt = now.Add(at)
			addMail(t, s, m)
		}
		list, err := s.DueMails(t.Context(), now.Add(2*time.Minute), 10)
		if err != nil || len(list) != 3 || !list[0].NextAt.Equal(now.Add(time.Minute)) ||
			!list[1].NextAt.Equal(now.Add(2*time.Minute)) {
			t.Errorf("DueMails() = %+v, %v", list, err)
		}
		if wait := list[2].Wait(now); wait != 0 {
			t.Errorf("one that is due in two days waits %v, want that it is due", wait)
		}
		for _, c := range []struct {
			kind, of string
			n, want  int
		}{{"kind0", "", 10, 2}, {"kind0", "", 1, 1}, {"kind0", "u0", 10, 1}, {"kind1", "u0", 10, 0}, {"kind", "", 10, 0}} {
			if n, err := s.CountMails(t.Context(), c.kind, c.of, c.n); n != c.want || err != nil {
				t.Errorf("CountMails(%q, %q, %d) = %d, %v; want %d", c.kind, c.of, c.n, n, err, c.want)
			}
		}
		time.Sleep(time.Hour)
		if n, err := s.Sweep(t.Context(), time.Now()); n != 4 || err != nil {
			t.Errorf("swept %d, %v; want all that nobody needs any more", n, err)
		}
	})
}

func TestMailHasBounds(t *testing.T) {
	s := opened(t, memory.New())
	for name, change := range map[string]func(*storage.Mail){
		"no kind":    func(m *storage.Mail) { m.Kind = "" },
		"no content": func(m *storage.Mail) { m.Content = storage.Secret{} },
		"too much":   func(m *storage.Mail) { m.Content = storage.NewSecret(strings.Repeat("x", storage.MaxMail+1)) },
		"no end":     func(m *storage.Mail) { m.ExpiresAt = time.Time{} },
		"a far end":  func(m *storage.Mail) { m.ExpiresAt = m.ExpiresAt.Add(storage.MaxMailLife) },
	} {
		m := mail("code", "")
		change(&m)
		if _, err := s.AddMail(t.Context(), m); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%s: AddMail() = %v, want ErrInvalid", name, err)
		}
	}
	if _, err := s.SaveMail(t.Context(), mail("code", "")); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("SaveMail(new) = %v, want ErrInvalid", err)
	}
}
