package restcall

import (
	"bytes"
	"encoding/base64"
	"mime/multipart"
	"net/textproto"
	"strings"
)

// quoted escapes a name within a header of a part (RFC 7578 4.2). Control characters were
// refused before.
var quoted = strings.NewReplacer(`\`, `\\`, `"`, `%22`)

// writeMultipart writes multipart/form-data (RFC 7578). A file is named after its field,
// since no argument says what it is called.
func writeMultipart(entries []entry, c *complaints) (text []byte, contentType string) {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for _, e := range entries {
		name := quoted.Replace(e.name)
		header := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + name + `"`}}
		content := []byte(e.text)
		switch {
		case e.file:
			header.Set("Content-Disposition", `form-data; name="`+name+`"; filename="`+name+`"`)
			header.Set("Content-Type", "application/octet-stream")
			content = decodeFile(e.arg, e.text, c)
		case e.json:
			header.Set("Content-Type", "application/json")
		}
		part, _ := w.CreatePart(header) // a Buffer takes everything
		part.Write(content)
	}
	w.Close()
	return out.Bytes(), w.FormDataContentType()
}

func decodeFile(arg, text string, c *complaints) []byte {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		c.add("argument %q must be base64 (RFC 4648 4)", arg)
	}
	return data
}
