package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// imageOf reads an image, checks each digest, and returns its configuration and its layer.
func imageOf(t *testing.T, name string) (c imageConfig, layer []byte) {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(readFile(t, name))); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			files[h.Name], err = io.ReadAll(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	blobOf := func(b blob) []byte {
		data := files["blobs/sha256/"+strings.TrimPrefix(b.Digest, "sha256:")]
		if fmt.Sprintf("sha256:%x", sha256.Sum256(data)) != b.Digest || len(data) != b.Size {
			t.Fatalf("%+v is no blob of the image", b)
		}
		return data
	}
	read := func(data []byte, into any) {
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
	}
	var index struct{ Manifests []blob }
	read(files["index.json"], &index)
	var manifest struct {
		Config blob
		Layers []blob
	}
	read(blobOf(index.Manifests[0]), &manifest)
	read(blobOf(manifest.Config), &c)
	var older []struct{ Config string }
	if read(files["manifest.json"], &older); older[0].Config != "blobs/sha256/"+strings.TrimPrefix(manifest.Config.Digest,
		"sha256:") {
		t.Errorf("manifest.json names another configuration: %+v", older)
	}
	return c, blobOf(manifest.Layers[0])
}

func TestImageServesWithNothingElseAround(t *testing.T) {
	asRoot(t)
	m := theRelease(t)
	c, layer := imageOf(t, m.the(t, ".oci.tar"))
	headers, files := unpacked(t, layer)
	dir := filepath.Join(work, "image")
	for _, h := range headers {
		name := filepath.Join(dir, h.Name)
		var err error
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(name, 0o755)
		} else {
			err = os.WriteFile(name, files[h.Name], 0o600)
		}
		if err = errors.Join(err, os.Chown(name, h.Uid, h.Gid), os.Chmod(name, h.FileInfo().Mode())); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "bin/sh")); err == nil || len(headers) > 25 {
		t.Errorf("it holds more than the program: %d files", len(headers))
	}
	if !bytes.Contains(files["etc/ssl/certs/ca-certificates.crt"], []byte("BEGIN CERTIFICATE")) {
		t.Error("it trusts no authority")
	}
	if c.Config.User != "10001:10001" || !slices.Equal(c.Config.Env,
		[]string{"PATH=/usr/bin", "KEYSTILE_LISTEN=0.0.0.0:8080"}) || c.Config.StopSignal != "SIGTERM" ||
		c.Config.Labels["org.opencontainers.image.revision"] != m.commit {
		t.Errorf("it is run with %+v", c.Config)
	}
	if dockerfile := string(readFile(t, root+"/examples/cluster/compose/Dockerfile")); !strings.Contains(dockerfile,
		"-u 10001 keystile") || !strings.Contains(dockerfile, imageData) {
		t.Error("the image of examples/cluster has another user or folder: a volume of one would not fit the other")
	}
	args := append(c.Config.Entrypoint[1:], c.Config.Cmd...)
	user := syscall.Credential{Uid: imageUser, Gid: imageUser}
	s := serveIn(t, dir, user, append(c.Config.Env, "KEYSTILE_LISTEN=127.0.0.1:0"), nil, c.Config.Entrypoint[0], args...)
	health := func() (string, error) {
		cmd := exec.Command(c.Config.Health.Test[1], c.Config.Health.Test[2:]...)
		cmd.Env, cmd.Dir = append(c.Config.Env, "KEYSTILE_LISTEN="+s.Address), "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: dir, Credential: &user}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if c.Config.Health.Test[0] != "CMD" || c.Config.Health.Timeout < 5*time.Second ||
		c.Config.Health.Interval < time.Second {
		t.Errorf("its health check is %+v", c.Config.Health)
	}
	if said, err := health(); err != nil {
		t.Errorf("its health check: %v: %s\n%s", err, said, s.Log)
	}
	if _, err := os.Stat(filepath.Join(dir, imageData, "keystile.db")); err != nil {
		t.Errorf("its store is not where a volume is: %v", err)
	}
	if err := s.End(syscall.SIGTERM); err != nil || !s.State().Success() {
		t.Errorf("it ends with %v: %v\n%s", s.State(), err, s.Log)
	}
	if said, err := health(); err == nil {
		t.Errorf("its health check when it has ended: %s", said)
	}
}
