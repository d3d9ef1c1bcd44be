package config

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
)

func TestStreamsAreOffUnlessTheyAreAskedFor(t *testing.T) {
	c := load(t, nil)
	if s := c.Streams; s.Audit != StreamOff || s.Usage != StreamOff || s.To(StreamS3) || s.To(StreamStdout) ||
		s.BatchAge != time.Minute || s.BatchSize != 4<<20 {
		t.Errorf("by default streams are %+v", s)
	}
}

var bucketOf = []string{"KEYSTILE_STREAMS_AUDIT=s3", "KEYSTILE_STREAMS_S3_BUCKET=trail",
	"KEYSTILE_STREAMS_S3_ACCESS_KEY=AKIDEXAMPLE", "KEYSTILE_STREAMS_S3_SECRET_KEY=wJalrXUtnFEMI"}

func TestBucketIsSetUpWhole(t *testing.T) {
	c := load(t, append([]string{"KEYSTILE_STREAMS_USAGE=stdout", "KEYSTILE_STREAMS_S3_SESSION_TOKEN=FQoGZXIv"},
		bucketOf...))
	if s := c.Streams; !s.To(StreamS3) || !s.To(StreamStdout) || s.S3.Region != "us-east-1" ||
		s.S3.Endpoint != "https://s3.us-east-1.amazonaws.com" || !s.S3.SecretKey.Equal("wJalrXUtnFEMI") {
		t.Errorf("streams are %+v", s)
	}
	var out bytes.Buffer
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "wJalrXUtnFEMI") || strings.Contains(text, "FQoGZXIv") ||
		strings.Count(text, "streams.s3.secret_key: '[secret]'") != 1 {
		t.Errorf("it is printed as\n%s", text)
	}
	for _, s := range c.Settings() {
		if strings.Contains(s.Value, "wJalrXUtnFEMI") || strings.Contains(s.Value, "FQoGZXIv") {
			t.Errorf("the console shows %s", s.Key)
		}
	}
	for says, env := range map[string][]string{
		"streams.s3.bucket: ": {"KEYSTILE_STREAMS_AUDIT=s3"},
		"streams.s3.secret_key: ": {"KEYSTILE_STREAMS_USAGE=s3", "KEYSTILE_STREAMS_S3_BUCKET=trail",
			"KEYSTILE_STREAMS_S3_ACCESS_KEY=AKIDEXAMPLE"},
		"neither streams.audit nor streams.usage is s3": bucketOf[1:],
		"streams.audit: \"kafka\"":                      {"KEYSTILE_STREAMS_AUDIT=kafka"},
		"streams.batch_age: 2h0m0s is more than 1h":     {"KEYSTILE_STREAMS_BATCH_AGE=2h"},
		"streams.batch_size: it must be at most 64MiB":  {"KEYSTILE_STREAMS_BATCH_SIZE=65MiB"},
		"streams.s3.endpoint: ": append([]string{
			"KEYSTILE_STREAMS_S3_ENDPOINT=https://a:b@example.com",
		}, bucketOf...),
		"streams.s3.path_style: ": append([]string{"KEYSTILE_STREAMS_S3_ENDPOINT=https://10.0.0.1"},
			bucketOf...),
		"no such key": {"KEYSTILE_STREAMS_S3_SECRET=x"},
	} {
		_, err := Load(cli.Args{}, env)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "wJalrXUtnFEMI") {
			t.Errorf("%q: %v, want %q", env, err, says)
		}
	}
}
