package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
)

const (
	postTimeout = 15 * time.Second // of one attempt, to the end of the answer
	maxAnswer   = 64 << 10         // bytes that are read of an answer, so that its connection can be used again
)

// plain is the message of a delivery that has all that it takes.
func plain(_ context.Context, d storage.Delivery) (Message, error) {
	return Message{URL: d.URL, ContentType: "application/json", Body: d.Payload, Secret: d.Secret}, nil
}

// post makes one attempt.
func (s *Sender) post(ctx context.Context, d storage.Delivery) outcome {
	m, err := s.compose(ctx, d)
	switch {
	case err != nil:
		s.log.ErrorContext(ctx, "a message cannot be made", "delivery", d.ID, "member", d.Member, "event", d.Event, "error",
			err)
		return outcome{fault: "the message could not be made"}
	case m.URL == "":
		return outcome{status: http.StatusGone}
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(m.Timeout, postTimeout))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return outcome{fault: "the URL cannot be read"}
	}
	now := time.Now()
	r.Header.Set("Content-Type", m.ContentType)
	r.Header.Set("User-Agent", "keystile")
	r.Header.Set(headerID, d.ID)
	r.Header.Set(headerTimestamp, strconv.FormatInt(now.Unix(), 10))
	if signature := Sign(m.Secret, d.ID, now, m.Body); signature != "" {
		r.Header.Set(headerSignature, signature)
	}
	answer, err := cmp.Or(m.Client, s.client).Do(r)
	if err != nil {
		return outcome{fault: s.fault(ctx, d, err)}
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer)) // the status has been said
	o := outcome{status: answer.StatusCode, after: retryAfter(answer.StatusCode, answer.Header, time.Now())}
	if !o.delivered() {
		o.fault = fmt.Sprintf("the answer was %d", o.status)
	}
	o.last = m.Final != nil && m.Final(o.status)
	return o
}

// fault says in a few fixed words why there is no answer. An error of net/http holds the
// whole URL, and an error of a dial would tell what a name inside the network resolves to.
func (s *Sender) fault(ctx context.Context, d storage.Delivery, err error) string {
	if refused := (*netguard.Refused)(nil); errors.As(err, &refused) {
		s.log.WarnContext(ctx, "a webhook leads to an address that is not allowed",
			"delivery", d.ID, "member", d.Member, "address", refused.Addr, "kind", refused.Why)
		return refused.Error()
	}
	if slow := (*url.Error)(nil); errors.As(err, &slow) && slow.Timeout() {
		return "no answer in time"
	}
	if wrong := (*tls.CertificateVerificationError)(nil); errors.As(err, &wrong) {
		return "the certificate is not valid for this host"
	}
	return "no connection"
}
