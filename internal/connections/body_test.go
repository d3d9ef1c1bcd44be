package connections

import (
	"bufio"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"
	"time"
)

const s = time.Second // as the tables have it

func TestBodyThatNeverComesDoesNotHoldAConnection(t *testing.T) {
	proxied := func(w http.ResponseWriter, r *http.Request) {
		proxy := httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: reader{},
			ErrorLog: log.New(io.Discard, "", 0)}
		proxy.ServeHTTP(w, r)
	}
	for _, c := range []struct {
		name     string
		handle   http.HandlerFunc
		request  string
		from, to time.Duration
	}{
		{"read", readAll, post(5000) + "half", 30 * s, 31 * s},
		{"read, nothing came", readAll, post(5000), 30 * s, 31 * s},
		{"read, in chunks", readAll, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", 30 * s,
			31 * s},
		{"read, after it was asked for", readAll, strings.Replace(post(5000), "\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n",
			1), 30 * s, 31 * s},
		{"proxied", proxied, post(5000) + "half", 30 * s, 31 * s},
		{"refused", refuse, post(5000) + "half", 5 * s, 6 * s},
		{"refused, in chunks", refuse, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", 5 * s,
			6 * s},
		{"refused, too large to be read", refuse, post(1<<20) + "half", 0, 6 * s},
		{"not looked at", func(http.ResponseWriter, *http.Request) {}, post(5000) + "half", 5 * s, 6 * s},
		{"half read, then refused",
			func(w http.ResponseWriter, r *http.Request) { io.ReadFull(r.Body, make([]byte, 4)); refuse(w, r) },
			post(5000) + "half", 5 * s, 6 * s},
		{"closed", func(w http.ResponseWriter, r *http.Request) { r.Body.Close(); refuse(w, r) }, post(5000) + "half", 5 * s,
			6 * s},
		{"answered, then closed", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "x")
			http.NewResponseController(w).Flush()
			r.Body.Close()
		}, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n50000\r\n" + strings.Repeat("x", 300<<10), 0,
			6 * s},
		{"refused, in chunks, too large to be read", refuse, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n" +
			"\r\n50000\r\n" + strings.Repeat("x", 300<<10), 0, 6 * s},
		{"a half header", readAll, "POST / HTTP/1.1\r\nHo", 5 * s, 6 * s},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, Config{}, c.handle, func(s *site) {
				client := s.dial("192.0.2.1")
				go io.WriteString(client.Conn, c.request)
				client.wantClosed(c.from, c.to)
			})
		})
	}
}

// reader is a service that reads what it is sent.
type reader struct{}

func (reader) RoundTrip(r *http.Request) (*http.Response, error) {
	done := make(chan error)
	go func() { _, err := io.Copy(io.Discard, r.Body); done <- err }()
	if err := <-done; err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody,
		Request: r}, nil
}

func TestSlowBodyIsStillAnswered(t *testing.T) {
	inBubble(t, Config{}, readAll, func(s *site) {
		s.ask(post(5000) + "half").wantAnswer(http.StatusRequestTimeout)
		if cut := s.limits.Stats().CutBody; cut != 1 {
			t.Errorf("counted %d times, want once", cut)
		}
	})
	inBubble(t, Config{}, refuse, func(s *site) { s.ask(post(5000) + "half").wantAnswer(http.StatusUnauthorized) })
}

func TestBodyThatDripsDoesNotHoldAConnection(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{"read": readAll, "refused": refuse} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, handle, func(s *site) {
				c := s.ask(post(5000))
				go io.Copy(io.Discard, c.read)
				for {
					if _, err := io.WriteString(c.Conn, "x"); err != nil {
						break
					}
					time.Sleep(time.Second)
				}
				c.wantOver(0, 33*time.Second)
			})
		})
	}
}

func TestSlowUploadAboveTheRateArrives(t *testing.T) {
	const seconds, piece = 150, 66 << 10
	inBubble(t, Config{}, readAll, func(s *site) {
		c := s.ask(post(seconds * piece))
		for range seconds {
			c.send(strings.Repeat("x", piece))
			time.Sleep(time.Second)
		}
		c.wantAnswer(200)
	})
}

func TestBodyThatCameFastMayPauseLater(t *testing.T) {
	const much = 640 << 10 // earns 10 s
	for pause, want := range map[time.Duration]int{39 * s: 200, 42 * s: http.StatusRequestTimeout} {
		inBubble(t, Config{}, readAll, func(s *site) {
			c := s.ask(post(much + 1))
			c.send(strings.Repeat("x", much))
			time.Sleep(pause)
			go io.WriteString(c.Conn, "x") // may be too late
			c.wantAnswer(want)
		})
	}
}

func TestUploadIsNotBlamedForAServiceThatReadsSlowly(t *testing.T) {
	const size = 100 << 10
	slowly := func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := io.ReadFull(r.Body, make([]byte, 1<<10)); err == io.EOF {
				return
			} else if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Second)
		}
	}
	inBubble(t, Config{}, slowly, func(s *site) {
		c := s.ask(post(size))
		c.send(strings.Repeat("x", size))
		c.wantAnswer(200)
	})
}

// net/http waits in a Read for the client to leave once a body is over, and takes a
// deadline that passes there for its leaving.
func TestHandlerMayTakeItsTimeOnceTheBodyIsOver(t *testing.T) {
	late := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(10 * time.Minute)
		if err := r.Context().Err(); err != nil {
			t.Errorf("the client is said to have left: %v", err)
		}
		io.WriteString(w, "late")
	}
	for name, handle := range map[string]http.HandlerFunc{
		"read":     func(w http.ResponseWriter, r *http.Request) { io.ReadAll(r.Body); late(w, r) },
		"not read": late,
		"answered, unread": func(w http.ResponseWriter,
			r *http.Request) {
			http.NewResponseController(w).Flush()
			late(w, r)
		},
		"read in the end": func(w http.ResponseWriter, r *http.Request) { late(w, r); io.ReadAll(r.Body) },
		"answered with much, unread": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, strings.Repeat("x", 8<<10))
			late(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, handle, func(s *site) {
				c := s.ask(post(4))
				c.send("body")
				c.wantAnswer(200)
				time.Sleep(time.Minute) // and the connection is used again
				c.send(get)
				c.wantAnswer(200)
			})
		})
	}
}

// pacedReader reads 1 KiB every half second.
type pacedReader struct{ io.Reader }

func (p pacedReader) Read(b []byte) (int, error) {
	time.Sleep(time.Second / 2)
	return p.Reader.Read(b[:min(len(b), 1<<10)])
}

func TestConnectionIsAsGoodAsNewAfterABodyThatNobodyRead(t *testing.T) {
	handle := func(w http.ResponseWriter, r *http.Request) {
		if err := r.Context().Err(); err != nil {
			t.Errorf("the client is said to have left: %v", err)
		}
		w.Header().Set("Content-Length", "65536")
		if r.URL.Path == "/begin" {
			http.NewResponseController(w).Flush()
			time.Sleep(time.Minute)
		}
		w.Write(make([]byte, 65536))
	}
	for _, path := range []string{"/", "/begin"} {
		inBubble(t, Config{}, handle, func(s *site) {
			c := s.dial("192.0.2.1")
			c.read = bufio.NewReader(pacedReader{c.Conn})
			for range 3 {
				c.send("POST " + path + " HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n")
				time.Sleep(time.Second)
				c.send("body")
				c.wantAnswer(200)
			}
		})
	}
}

func TestBodyReadWhileTheAnswerGoesOutIsLimitedToo(t *testing.T) {
	handle := func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).Flush() // net/http leaves a body as large as this one alone
		io.Copy(io.Discard, r.Body)
	}
	inBubble(t, Config{}, handle, func(s *site) { s.ask(post(1<<20)).wantClosed(0, 31*time.Second) })
}

func TestDeadlinesOfHandlersHoldAsWell(t *testing.T) {
	handle := func(w http.ResponseWriter, r *http.Request) {
		to := http.NewResponseController(w)
		began := time.Now()
		to.SetReadDeadline(began.Add(2 * time.Second))
		_, err := io.ReadAll(r.Body)
		if took := time.Since(began); err == nil || took != 2*time.Second {
			t.Errorf("reading took %v, %v", took, err)
		}
		to.SetWriteDeadline(time.Now().Add(10 * time.Second))
		_, err = w.Write(make([]byte, 1<<20))
		if took := time.Since(began); err == nil || took < 12*time.Second || took > 18*time.Second {
			t.Errorf("reading and writing took %v, %v", took, err)
		}
	}
	inBubble(t, Config{}, handle, func(s *site) {
		s.ask(post(5000))
		time.Sleep(time.Minute)
	})
}
