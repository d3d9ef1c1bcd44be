//go:build ignore

// Gen writes table.txt from the confusables.txt of UTS 39, which
// https://www.unicode.org/Public/security/ has for each version of Unicode:
//
//	go run gen.go confusables.txt
//
// A code point that NFKC or NFD changes is left out, because no text that is looked up still holds
// it. The look-alike of a code point is looked up in turn: parts of it may have entries of their
// own once it is decomposed.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

func main() {
	in, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	table := map[string]string{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		row, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "\ufeff"), "#")
		if fields := strings.Split(row, ";"); len(fields) >= 3 {
			table[text(fields[0])] = norm.NFD.String(text(fields[1]))
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	var rows []string
	for from, to := range table {
		for next := apply(table, to); next != to; next = apply(table, to) {
			to = next
		}
		if norm.NFD.String(norm.NFKC.String(from)) == from && from != to {
			rows = append(rows, code(from)+" "+code(to))
		}
	}
	slices.Sort(rows)
	if err := os.WriteFile("table.txt", []byte(strings.Join(rows, "\n")+"\n"), 0o644); err != nil {
		log.Fatal(err)
	}
}

func apply(table map[string]string, text string) string {
	var out strings.Builder
	for _, r := range text {
		if to, ok := table[string(r)]; ok {
			out.WriteString(to)
		} else {
			out.WriteRune(r)
		}
	}
	return norm.NFD.String(out.String())
}

// text reads code points in hexadecimal.
func text(field string) string {
	var out strings.Builder
	for word := range strings.FieldsSeq(field) {
		n, err := strconv.ParseUint(word, 16, 32)
		if err != nil {
			log.Fatal(err)
		}
		out.WriteRune(rune(n))
	}
	return out.String()
}

// code writes code points in hexadecimal, each of the same width, so that they sort.
func code(text string) string {
	var words []string
	for _, r := range text {
		words = append(words, fmt.Sprintf("%05X", r))
	}
	return strings.Join(words, " ")
}
