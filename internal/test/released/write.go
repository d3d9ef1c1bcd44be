package released

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
)

// Write keeps the data of a release: a data folder whose service has ended, and the statements that make
// its tables.
func Write(f Facts, data, sql string) error {
	folder := Folder(f.Version)
	facts, err := json.MarshalIndent(f, "", "\t")
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "facts.json"), append(facts, '\n'), 0o644)
	}
	if err != nil {
		return err
	}
	packed, err := pack(data)
	if err == nil {
		err = keep(filepath.Join(folder, "data.tar.gz"), packed)
	}
	if err == nil {
		err = keep(filepath.Join(folder, "postgres.sql.gz"), []byte(sql))
	}
	return err
}

func keep(path string, text []byte) error {
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = zip.Write(text)
	}
	if err == nil {
		err = zip.Close()
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// pack puts the files of a folder into an archive; a socket is no file.
func pack(folder string) ([]byte, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err == nil {
			err = archive.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(text))})
		}
		if err == nil {
			_, err = archive.Write(text)
		}
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	return out.Bytes(), err
}
