package restcall

import (
	"net/http"
	"net/textproto"
	"strings"
)

// quoted escapes a name within a header of a part, as browsers do and servers read it
// (RFC 7578 4.2 and the HTML standard); what is not ASCII stays as it is, since RFC 7578
// forbids the filename* of RFC 8187. Control characters were refused before.
var quoted = strings.NewReplacer(`\`, `\\`, `"`, `%22`)

// writePart writes one part of multipart/form-data (RFC 7578). One with a file name is a
// file. Text of which no type is said has none, which is text/plain.
func (s *formWriter) writePart(i item, fileName, contentType string, content []byte) {
	if !s.more() {
		return
	}
	disposition := `form-data; name="` + quoted.Replace(string(i.name)) + `"`
	if fileName != "" {
		disposition += `; filename="` + quoted.Replace(fileName) + `"`
	}
	header := http.Header{"Content-Disposition": {disposition}}
	if contentType != "" {
		header["Content-Type"] = []string{contentType}
	}
	i.header(header, i.args, i.plan, s.c)
	part, _ := s.part.CreatePart(textproto.MIMEHeader(header)) // a Buffer takes everything
	part.Write(content)
}
