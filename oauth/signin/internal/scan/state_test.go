package scan

import (
	"errors"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// Every state, every step, by the one who scanned and by another: what it becomes. A state
// that stays is "".
func TestStepOfASignInByCode(t *testing.T) {
	mina := storage.Session{ID: "s1", UserID: "mina", LoginType: "self"}
	omar := storage.Session{ID: "s2", UserID: "omar", LoginType: "wx"}
	for _, c := range []struct {
		from, by, step, to string
		err                error
	}{
		{Pending, "omar", "scan", Scanned, nil},
		{Pending, "mina", "scan", Scanned, nil},
		{Pending, "mina", "yes", "", nil},
		{Pending, "mina", "no", "", nil},
		{Scanned, "mina", "scan", "", nil},
		{Scanned, "mina", "yes", Confirmed, nil},
		{Scanned, "mina", "no", Rejected, nil},
		{Scanned, "omar", "scan", "", errTaken},
		{Scanned, "omar", "yes", "", errTaken},
		{Scanned, "omar", "no", "", errTaken},
		{Confirmed, "mina", "scan", "", nil},
		{Confirmed, "mina", "yes", "", nil},
		{Confirmed, "mina", "no", "", nil},
		{Confirmed, "omar", "scan", "", errTaken},
		{Confirmed, "omar", "yes", "", errTaken},
		{Confirmed, "omar", "no", "", errTaken},
		{Rejected, "mina", "scan", "", nil},
		{Rejected, "mina", "yes", "", nil},
		{Rejected, "mina", "no", "", nil},
		{Rejected, "omar", "scan", "", errTaken},
		{Rejected, "omar", "yes", "", errTaken},
		{Rejected, "omar", "no", "", errTaken},
		{Collected, "mina", "scan", "", nil},
		{Collected, "mina", "yes", "", nil},
		{Collected, "mina", "no", "", nil},
		{Collected, "omar", "scan", "", errTaken},
		{Collected, "omar", "yes", "", errTaken},
		{Collected, "omar", "no", "", errTaken},
	} {
		now := time.Now()
		before := storage.Ticket{State: c.from, ExpiresAt: now.Add(time.Second)}
		if c.from != Pending {
			before.UserID, before.Session, before.LoginType = mina.UserID, mina.ID, mina.LoginType
		}
		by := map[string]storage.Session{"mina": mina, "omar": omar}[c.by]
		do := map[string]step{"scan": scan(by), "yes": decide(by, true), "no": decide(by, false)}[c.step]
		after := before
		done, err := do(&after, now)
		if done != (c.to != "") || !errors.Is(err, c.err) {
			t.Errorf("%s, %s by %s: done %v, %v, want %v, %v", c.from, c.step, c.by, done, err, c.to != "", c.err)
		}
		want := before
		switch c.to {
		case Scanned:
			want.UserID, want.Session, want.LoginType, want.ExpiresAt = by.UserID, by.ID, by.LoginType,
				before.ExpiresAt.Add(time.Minute)
		case Confirmed:
			want.ExpiresAt = now.Add(time.Minute)
		}
		if c.to != "" {
			want.State = c.to
		}
		if after.State != want.State || after.UserID != want.UserID || after.Session != want.Session ||
			after.LoginType != want.LoginType || !after.ExpiresAt.Equal(want.ExpiresAt) {
			t.Errorf("%s, %s by %s: %+v, want %+v", c.from, c.step, c.by, after, want)
		}
	}
}

func TestTextOfACodeIsInBothLanguages(t *testing.T) {
	for _, text := range []string{
		waitingText, endedText, rejectedText, withdrawnText, numberText, web.ScanEnded.Msg, web.ScanTaken.Msg,
		web.NoAnswer.Msg, web.TooManyCodes.Msg,
		"Scan with your phone", "Sign in with your phone", "an unknown address", "an unknown browser",
		"an unknown browser on %s", "%s on %s",
		"You have confirmed", "The other device is being signed in. You can close this page.", "You have rejected it",
		"Nobody was signed in. You can close this page.", "Sign in on another device?",
		"A code to scan with the camera of your phone",
		"Sign in on this phone first. Then you can confirm the sign-in on the other device.",
	} {
		if page.Chinese.Of(text) != page.Chinese {
			t.Errorf("%q is not in the table of messages", text)
		}
	}
}
