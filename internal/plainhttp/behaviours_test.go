package plainhttp

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing/iotest"
	"time"
)

// describe answers with all that a handler knows of a request.
func describe(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s %q %d %v %v\n", r.Method, r.RequestURI, r.Proto, r.Host, r.ContentLength, r.TransferEncoding,
		r.Close)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(w, "%s: %q\n", name, r.Header[name])
	}
	fmt.Fprintf(w, "%d bytes, %v, %v\nover.\n", len(body), err, r.Trailer)
}

type handler = http.HandlerFunc

// set returns a handler that sets fields, by name and value, and then goes on.
func set(next handler, fields ...string) handler {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(fields); i += 2 {
			w.Header().Add(fields[i], fields[i+1])
		}
		next(w, r)
	}
}

// write returns a handler that writes n bytes at a time.
func write(sizes ...int) handler {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i, n := range sizes {
			w.Write([]byte(strings.Repeat(string(rune('a'+i%26)), n)))
		}
	}
}

func status(n int) handler {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(n) }
}

// after runs handlers one after the other.
func after(all ...handler) handler {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, h := range all {
			h(w, r)
		}
	}
}

func flush(w http.ResponseWriter, _ *http.Request)        { w.(http.Flusher).Flush() }
func readBody(_ http.ResponseWriter, r *http.Request)     { io.Copy(io.Discard, r.Body) }
func nothing(http.ResponseWriter, *http.Request)          {}
func removeAll(w http.ResponseWriter, _ *http.Request)    { clear(w.Header()) }
func readSome(_ http.ResponseWriter, r *http.Request)     { io.CopyN(io.Discard, r.Body, 3) }
func closeBody(_ http.ResponseWriter, r *http.Request)    { r.Body.Close() }
func replaceBody(_ http.ResponseWriter, r *http.Request)  { r.Body = http.NoBody }
func file(w http.ResponseWriter, r *http.Request)         { http.ServeFile(w, r, "head.go") }
func askForARange(_ http.ResponseWriter, r *http.Request) { r.Header.Set("Range", "bytes=1-2") }
func lowerCase(w http.ResponseWriter, _ *http.Request)    { w.Header()["x-b"] = []string{"1"} }

func readByByte(_ http.ResponseWriter, r *http.Request) any { return iotest.TestReader(r.Body, nil) }

func writeResult(w http.ResponseWriter, _ *http.Request) any {
	_, err := w.Write([]byte("a"))
	return err
}

func panics(with any) handler { return func(http.ResponseWriter, *http.Request) { panic(with) } }

func text(s string) handler {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, s) }
}

// none returns a handler that wants a field not to be added.
func none(name string) handler {
	return func(w http.ResponseWriter, _ *http.Request) { w.Header()[name] = nil }
}

// result writes what a call returned.
func result(call func(http.ResponseWriter, *http.Request) any) handler {
	return func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, call(w, r)) }
}

var behaviours = map[string]handler{
	"nothing":                       nothing,
	"describes":                     describe,
	"one byte":                      write(1),
	"just what is held":             write(mostHeld),
	"one more than is held":         write(mostHeld + 1),
	"held in two":                   write(mostHeld-1, 1),
	"held in two and one more":      write(mostHeld-1, 2),
	"many small writes":             write(slices.Repeat([]int{100}, 100)...),
	"a large write":                 write(100_000),
	"small, large, small":           write(10, 10_000, 10),
	"empty write":                   write(0),
	"WriteString":                   text("text"),
	"flushes first":                 after(flush, write(10)),
	"flushes between":               after(write(10), flush, write(10), flush, flush, write(3000)),
	"flushes last":                  after(write(10), flush),
	"flushes alone":                 flush,
	"201":                           after(status(201), write(10)),
	"204":                           status(204),
	"204 with a body":               after(status(204), write(10)),
	"204 with a length":             set(status(204), "Content-Length", "10", "Transfer-Encoding", "chunked"),
	"304":                           set(status(304), "Etag", `"a"`, "Content-Type", "text/a", "Content-Length", "7"),
	"304 with a body":               after(status(304), write(3000)),
	"404 by Error":                  func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such thing", 404) },
	"redirect":                      http.RedirectHandler("/b?c", http.StatusFound).ServeHTTP,
	"unknown status":                after(status(599), write(5)),
	"three digits":                  status(999),
	"101 unasked":                   status(101),
	"two statuses":                  after(status(200), status(500), write(1)),
	"status after a write":          after(write(1), status(500)),
	"103 first":                     after(set(status(103), "Link", "</a>; rel=preload"), write(10)),
	"100 first":                     after(set(status(100), "Content-Length", "4"), write(4)),
	"status too small":              status(99),
	"status too large":              status(1000),
	"length":                        set(write(10), "Content-Length", "10"),
	"length of a large answer":      set(write(50_000, 50_000), "Content-Length", "100000"),
	"length too large":              set(write(10), "Content-Length", "11"),
	"length too small":              set(write(10), "Content-Length", "9"),
	"length too small, in two":      set(write(5, 5, 5), "Content-Length", "9"),
	"length that is none":           set(write(10), "Content-Length", "ten"),
	"negative length":               set(write(10), "Content-Length", "-1"),
	"no bytes of a length":          set(status(200), "Content-Length", "3"),
	"length 0":                      set(status(200), "Content-Length", "0"),
	"length and flush":              set(after(write(5), flush, write(5)), "Content-Length", "10"),
	"chunked by itself":             set(write(10), "Transfer-Encoding", "chunked"),
	"identity":                      set(write(10), "Transfer-Encoding", "identity"),
	"chunked with a length":         set(write(10), "Transfer-Encoding", "chunked", "Content-Length", "10"),
	"gzip transfer":                 set(write(10), "Transfer-Encoding", "gzip"),
	"closes":                        set(write(10), "Connection", "close"),
	"closes, said in capitals":      set(write(10), "Connection", "Close"),
	"keeps":                         set(write(10), "Connection", "keep-alive"),
	"closes in a list":              set(write(10), "Connection", "close, x"),
	"own type":                      set(write(10), "Content-Type", "application/json"),
	"no type":                       after(none("Content-Type"), write(10)),
	"encoded":                       set(write(10), "Content-Encoding", "gzip"),
	"HTML":                          text("<!doctype html><p>a"),
	"HTML late":                     after(write(3000), text("<!doctype html>")),
	"own date":                      set(write(10), "Date", "yesterday"),
	"no date":                       after(none("Date"), write(10)),
	"line ends in values":           set(write(1), "A", "b\r\nc: d", "E", " f\n", "G", "\th\r"),
	"names that are none":           set(write(1), "A b", "c", "D:", "e", "", "f", "G\r\nH", "i"),
	"names in any case":             after(none("x-b"), lowerCase, write(10)),
	"many values":                   set(write(1), "Set-Cookie", "a", "Set-Cookie", "", "Vary", "e", "Vary", "f"),
	"many fields":                   manyFields,
	"header changed too late":       after(status(200), set(write(10), "A", "b"), flush, set(write(10), "C", "d")),
	"values changed too late":       changedLate,
	"header removed too late":       set(after(status(200), removeAll, write(10)), "A", "b"),
	"trailers announced":            set(after(write(10), set(nothing, "A", "1", "B", "2")), "Trailer", "b, A, Trailer"),
	"trailers by prefix":            after(write(10), flush, set(nothing, "Trailer:X-A", "1", "Trailer:B", "2\r\n3")),
	"trailers announced, not given": set(write(10), "Trailer", "A"),
	"trailers of a length":          set(after(write(10), set(nothing, "A", "1")), "Trailer", "A", "Content-Length", "10"),
	"trailers before the body":      set(write(10), "Trailer:A", "1"),
	"panics":                        panics("oh"),
	"panics after a write":          after(write(10), panics("oh")),
	"panics after a large write":    after(write(3000), panics("oh")),
	"panics after a flush":          after(write(10), flush, panics(errors.New("oh"))),
	"aborts":                        after(write(10), flush, panics(http.ErrAbortHandler)),
	"reads the body":                after(readBody, write(10)),
	"reads some of the body":        after(readSome, write(10)),
	"reads byte by byte":            result(readByByte),
	"reads after the answer":        after(write(5000), readBody),
	"closes the body":               after(closeBody, write(10)),
	"closes the body and reads": result(func(_ http.ResponseWriter, r *http.Request) any {
		r.Body.Close()
		_, err := r.Body.Read(make([]byte, 1))
		return err
	}),
	"full duplex": func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, http.NewResponseController(w).EnableFullDuplex())
		flush(w, r)
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintln(w, n, err)
	},
	"form": result(func(_ http.ResponseWriter, r *http.Request) any { return r.FormValue("a") }),
	"read deadline that is over": result(func(w http.ResponseWriter, r *http.Request) any {
		err := http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
		_, timeout := io.Copy(io.Discard, io.LimitReader(r.Body, 0))
		return errors.Join(err, timeout)
	}),
	"file":   file,
	"ranges": after(askForARange, file),
	"copies": func(w http.ResponseWriter, _ *http.Request) {
		io.Copy(w, strings.NewReader(strings.Repeat("a", 70_000)))
	},
	"another body":  after(replaceBody, write(10)),
	"writes result": after(status(204), result(writeResult)),
	"proxy": func(w http.ResponseWriter, r *http.Request) {
		recorded := handler(describe)
		served := httptest.NewRecorder()
		to := &url.URL{Scheme: "http", Host: "a"}
		(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) },
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Body == nil {
					r.Body = http.NoBody
				}
				recorded(served, r)
				return served.Result(), nil
			})}).ServeHTTP(w, r)
	},
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func manyFields(w http.ResponseWriter, _ *http.Request) {
	for i := range 200 {
		w.Header().Add(fmt.Sprint("X-", i*7%200), strings.Repeat("v", 50))
	}
	io.WriteString(w, "body")
}

func changedLate(w http.ResponseWriter, r *http.Request) {
	w.Header()["A"] = []string{"1", "2"}
	w.WriteHeader(200)
	w.Header()["A"][0], w.Header()["A"][1] = "3", "4"
	write(10)(w, r)
}
