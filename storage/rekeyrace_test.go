package storage_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// Somebody who sealed with the old key, and whose write ends when the new one is in place
// and every document was looked at, must not bring the old one back.
func TestWriteThatIsUnderWayWhenTheKeyChangesIsWaitedFor(t *testing.T) {
	old, fresh := storage.NewMasterKey(), storage.NewMasterKey()
	v := newVault(t, old)
	slow := &slowBackend{Backend: v.backend, stands: make(chan struct{}), wait: make(chan struct{}),
		marked: make(chan struct{})}
	store := v.open(slow, old)
	ends, done := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := store.SaveApp(t.Context(), storage.App{Name: "Late", ID: "late", Domains: []string{"late.example"}})
		ends <- err
	}()
	<-slow.stands // it is sealed with the old key
	go func() {
		_, err := rekey(t.Context(), store, fresh, old)
		done <- err
	}()
	<-slow.marked
	for range 1000 { // time enough to go through a store in memory, if nothing is waited for
		runtime.Gosched()
	}
	close(slow.wait)
	if err := errors.Join(<-ends, <-done); err != nil {
		t.Fatal(err)
	}
	late, err := v.open(v.backend, fresh).App(t.Context(), "late")
	if err != nil || late.AppKey().IsZero() {
		t.Errorf("behind the change the application is %+v, %v", late, err)
	}
}

// slowBackend blocks the write of the application late until wait is closed, and reports
// that a mark of a new key was written.
type slowBackend struct {
	driver.Backend
	stands, wait, marked chan struct{}
	once                 sync.Once
}

func (s *slowBackend) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	switch {
	case docs[0].ID == "late":
		close(s.stands)
		<-s.wait
	case docs[0].Kind == "master":
		defer s.once.Do(func() { close(s.marked) })
	}
	return s.Backend.Put(ctx, docs...)
}

// The other half: sealed before the change, and not yet on its way when it comes.
func TestWriteSealedBeforeTheChangeAndSentBehindItIsSealedAgain(t *testing.T) {
	old, fresh := storage.NewMasterKey(), storage.NewMasterKey()
	v := newVault(t, old)
	store := v.open(v.backend, old)
	app, err := store.SaveApp(t.Context(), storage.App{Name: "Late", Domains: []string{"late.example"}})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := v.backend.Get(t.Context(), "app", app.ID)
	if err != nil {
		t.Fatal(err)
	}
	doc.ID, doc.Version = "other", 0
	if _, err := rekey(t.Context(), store, fresh, old); err != nil {
		t.Fatal(err)
	}
	// A document of the old key that is moved does not get the new one's seal either.
	if _, err := document.Write(t.Context(), storage.DocumentsForTest(store), doc); err == nil ||
		!strings.Contains(err.Error(), "belongs elsewhere") {
		t.Errorf("a text sealed for another document was sealed again: %v", err)
	}
	doc.ID = app.ID
	now, err := v.backend.Get(t.Context(), "app", app.ID)
	if err != nil {
		t.Fatal(err)
	}
	doc.Version = now.Version
	if _, err := document.Write(t.Context(), storage.DocumentsForTest(store), doc); err != nil {
		t.Fatal(err)
	}
	read, err := v.open(v.backend, fresh).App(t.Context(), app.ID)
	if err != nil || !read.AppKey().Equal(app.AppKey().Reveal()) {
		t.Errorf("with the new key alone it is %+v, %v", read, err)
	}
}

func TestRekeyLosesToAChangeOfTheDocument(t *testing.T) {
	old, fresh := storage.NewMasterKey(), storage.NewMasterKey()
	v := newVault(t, old)
	id := ""
	for name := range v.secrets {
		if kind, at, _ := strings.Cut(name, " "); kind == "app" {
			id = at
		}
	}
	meddling := &dyingBackend{Backend: v.backend, left: -1}
	store, other := v.open(meddling, old), v.open(v.backend, old)
	meddling.before = func() {
		meddling.before = nil
		app, err := other.App(t.Context(), id)
		if err == nil {
			app.Name = "Changed"
			_, err = other.SaveApp(t.Context(), app)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := rekey(t.Context(), store, fresh, old); err != nil {
		t.Fatal(err)
	}
	v.wantWhole(fresh)
	if app, err := v.open(v.backend, fresh).App(t.Context(), id); err != nil || app.Name != "Changed" {
		t.Errorf("the application is %+v, %v", app, err)
	}
}
