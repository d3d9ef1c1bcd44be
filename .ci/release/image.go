package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// imageUser is who the program is in a container, as in examples/cluster.
const imageUser = 10001

// imageData is the folder that a volume belongs at.
const imageData = "/var/lib/keystile"

// authorities are where systems keep the certificates that a client trusts.
var authorities = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/cert.pem"}

// imageFiles are all there is in a container: no shell, no package manager, nobody to log in as.
func imageFiles(program, texts []byte) ([]entry, error) {
	var trusted []byte
	for _, name := range authorities {
		if data, err := os.ReadFile(name); err == nil {
			trusted = data
			break
		}
	}
	if trusted == nil {
		return nil, errors.New("this machine has no certificates of authorities to put into the image: apt-get install " +
			"ca-certificates")
	}
	return []entry{
		{name: "usr/bin/keystile", mode: 0o755, data: program},
		{name: "usr/share/doc/keystile/LICENCES.txt", mode: 0o644, data: texts},
		{name: "etc/passwd", mode: 0o644,
			data: fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nkeystile:x:%d:%[1]d:keystile:%s:/sbin/nologin\n"+
				"nobody:x:65534:65534:nobody:/:/sbin/nologin\n", imageUser, imageData)},
		{name: "etc/group", mode: 0o644, data: fmt.Appendf(nil, "root:x:0:\nkeystile:x:%d:\nnogroup:x:65534:\n", imageUser)},
		{name: "etc/nsswitch.conf", mode: 0o644, data: []byte("hosts: files dns\n")},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: trusted},
		{name: "tmp/", mode: 0o777 | fs.ModeSticky},
		{name: imageData[1:] + "/", mode: 0o700, user: imageUser},
	}, nil
}

// imageConfig is the configuration of the image (OCI).
type imageConfig struct {
	Created string `json:"created"`
	Arch    string `json:"architecture"`
	OS      string `json:"os"`
	Config  struct {
		User       string              `json:"User"`
		Ports      map[string]struct{} `json:"ExposedPorts"`
		Env        []string            `json:"Env"`
		Entrypoint []string            `json:"Entrypoint"`
		Cmd        []string            `json:"Cmd"`
		Volumes    map[string]struct{} `json:"Volumes"`
		WorkingDir string              `json:"WorkingDir"`
		StopSignal string              `json:"StopSignal"`
		Labels     map[string]string   `json:"Labels"`
		Health     healthCheck         `json:"Healthcheck"` // Docker's and Podman's own; others leave it out
	} `json:"config"`
	RootFS struct {
		Type string   `json:"type"`
		IDs  []string `json:"diff_ids"`
	} `json:"rootfs"`
}

func (s source) imageConfig(arch, layer string) (c imageConfig) {
	c.Created, c.Arch, c.OS = s.at.Format(time.RFC3339), arch, "linux"
	c.Config.User = fmt.Sprintf("%d:%[1]d", imageUser)
	c.Config.Ports = map[string]struct{}{"8080/tcp": {}}
	c.Config.Env = []string{"PATH=/usr/bin", "KEYSTILE_LISTEN=0.0.0.0:8080"}
	c.Config.Entrypoint, c.Config.Cmd = []string{"/usr/bin/keystile"}, []string{"serve", "--data", imageData}
	c.Config.Volumes = map[string]struct{}{imageData: {}}
	c.Config.WorkingDir, c.Config.StopSignal = "/", "SIGTERM"
	c.Config.Health = healthCheck{Test: []string{"CMD", "/usr/bin/keystile", "health"}, Interval: 10 * time.Second,
		Timeout: 6 * time.Second, Start: time.Minute, Retries: 3}
	c.Config.Labels = map[string]string{
		"org.opencontainers.image.source":   "https://github.com/keystile/keystile",
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.version":  s.version, "org.opencontainers.image.revision": s.commit,
	}
	c.RootFS.Type, c.RootFS.IDs = "layers", []string{layer}
	return c
}

type healthCheck struct {
	Test     []string      `json:"Test"`
	Interval time.Duration `json:"Interval"`
	Timeout  time.Duration `json:"Timeout"`
	Start    time.Duration `json:"StartPeriod"`
	Retries  int           `json:"Retries"`
}

type blob struct {
	Type   string `json:"mediaType"`
	Digest string `json:"digest"`
	Size   int    `json:"size"`

	Annotations map[string]string `json:"annotations,omitempty"`
}

// writeImage writes an archive that `docker load`, podman and skopeo (oci-archive:) read. No engine
// is needed to make it: the image is one layer.
func (s source) writeImage(name, binary, arch string, texts []byte) error {
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	files, err := imageFiles(program, texts)
	if err != nil {
		return err
	}
	var plain bytes.Buffer
	if err := writeTar(&plain, files, s.at); err != nil {
		return err
	}
	layer, err := packed(files, s.at)
	if err != nil {
		return err
	}
	var out []entry
	add := func(kind string, data []byte) blob {
		sum := fmt.Sprintf("%x", sha256.Sum256(data))
		out = append(out, entry{name: "blobs/sha256/" + sum, mode: 0o644, data: data})
		return blob{Type: "application/vnd.oci.image." + kind, Digest: "sha256:" + sum, Size: len(data)}
	}
	text := func(v any) []byte { b, _ := json.Marshal(v); return b } // of types that have no other end
	layerBlob := add("layer.v1.tar+gzip", layer)
	config := add("config.v1+json", text(s.imageConfig(arch, fmt.Sprintf("sha256:%x", sha256.Sum256(plain.Bytes())))))
	manifest := add("manifest.v1+json", text(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
		"layers": []blob{layerBlob},
	}))
	manifest.Annotations = map[string]string{"org.opencontainers.image.ref.name": s.version}
	path := func(b blob) string { return "blobs/sha256/" + b.Digest[len("sha256:"):] }
	for name, v := range map[string]any{
		"oci-layout": map[string]string{"imageLayoutVersion": "1.0.0"},
		"index.json": map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
			"manifests": []blob{manifest}},
		// what older versions of docker read
		"manifest.json": []map[string]any{{"Config": path(config), "RepoTags": []string{"keystile:" + s.version},
			"Layers": []string{path(layerBlob)}}},
	} {
		out = append(out, entry{name: name, mode: 0o644, data: text(v)})
	}
	var archive bytes.Buffer
	if err := writeTar(&archive, out, s.at); err != nil {
		return err
	}
	return os.WriteFile(name, archive.Bytes(), 0o644)
}
