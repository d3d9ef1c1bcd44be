package connections

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// A handler that knows its caller lets a body come more slowly, or has it come faster.
func TestHandlerSetsHowFastABodyHasToCome(t *testing.T) {
	const seconds, piece = 300, 9 << 10
	for name, c := range map[string]struct{ rate, want int }{
		"as it was": {0, http.StatusRequestTimeout}, "slower": {8 << 10, 200},
		"faster": {10 << 20, http.StatusRequestTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
				if c.rate > 0 {
					SetBodyRate(r.Context(), c.rate)
				}
				readAll(w, r)
			}, func(s *site) {
				client := s.ask(post(seconds * piece))
				go func() {
					for range seconds {
						if _, err := io.WriteString(client.Conn, strings.Repeat("x", piece)); err != nil {
							return
						}
						time.Sleep(time.Second)
					}
				}()
				client.wantAnswer(c.want)
				client.Close()
				time.Sleep(2 * time.Second)
			})
		})
	}
	SetBodyRate(t.Context(), 1) // where no Limits are, nothing is done
}

// The reader of a body can tell one that came too slowly from one that broke off.
func TestBodyThatComesTooSlowlyFailsInItsOwnWay(t *testing.T) {
	inBubble(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		if !errors.Is(err, ErrSlow) || !errors.Is(err, os.ErrDeadlineExceeded) || !BodyCut(r.Context()) {
			t.Errorf("reading failed with %v", err)
		}
	}, func(s *site) { s.ask(post(5000) + "half").wantAnswer(200) })
	inBubble(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		if err == nil || errors.Is(err, ErrSlow) || BodyCut(r.Context()) {
			t.Errorf("reading failed with %v", err)
		}
	}, func(s *site) { s.ask(post(5000) + "half").Close() })
	inBubble(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second))
		_, err := io.ReadAll(r.Body)
		if !errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, ErrSlow) {
			t.Errorf("a deadline of the handler's own: %v", err)
		}
	}, func(s *site) { s.ask(post(5000) + "half").wantAnswer(200) })
}
