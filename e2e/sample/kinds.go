package sample

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
)

// Names of files in KindsFolder that tests ask for by name.
const (
	EmptyFile     = "empty.txt"
	PNGFile       = "picture.png"
	BrokenPNGFile = "broken.png"
	SVGFile       = "drawing.svg"
	HEICFile      = "photo.heic"
	BelowPartFile = "5 MiB minus 1.bin"
	PartFile      = "5 MiB.bin"
)

// Kinds gives one file of each kind that needs care, by name.
func Kinds() map[string][]byte {
	return map[string][]byte{
		EmptyFile:     nil,
		"note.txt":    []byte("A plain note.\n"),
		PNGFile:       picture(encodePNG),
		"photo.jpg":   picture(encodeJPEG),
		BrokenPNGFile: append(picture(encodePNG)[:60:60], "this is no picture"...),
		SVGFile:       []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><circle cx="20" cy="20" r="18" fill="teal"/></svg>`),
		HEICFile:      heic(),
		"letter.pdf":  pdf("A letter"),
		BelowPartFile: Pattern(PartSize - 1),
		PartFile:      Pattern(PartSize),
	}
}

// Pattern gives n bytes in which any lost, doubled or swapped block shows.
func Pattern(n int) []byte {
	content := make([]byte, 0, n+16)
	for i := 0; len(content) < n; i++ {
		content = fmt.Appendf(content, "%015d\n", i)
	}
	return content[:n]
}

func picture(encode func(*bytes.Buffer, image.Image) error) []byte {
	const side = 96
	drawn := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			drawn.Set(x, y, color.RGBA{R: uint8(2 * x), G: uint8(2 * y), B: 128, A: 255})
		}
	}
	var out bytes.Buffer
	if err := encode(&out, drawn); err != nil {
		panic(err) // a buffer takes everything, and the picture is a constant
	}
	return out.Bytes()
}

func encodePNG(out *bytes.Buffer, drawn image.Image) error { return png.Encode(out, drawn) }

func encodeJPEG(out *bytes.Buffer, drawn image.Image) error { return jpeg.Encode(out, drawn, nil) }

// heic is the file type box that makes a file an HEIC image to whoever looks (ISO 14496-12), with
// nothing behind it that could be decoded.
func heic() []byte {
	box, err := hex.DecodeString("0000001866747970" + "6865696300000000" + "6d696631" + "68656963")
	if err != nil {
		panic(err) // a constant
	}
	return append(box, Pattern(4096)...)
}

// pdf is one page with a line of text, its cross-reference table computed.
func pdf(text string) []byte {
	content := fmt.Sprintf("BT /F1 24 Tf 72 720 Td (%s) Tj ET", text)
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, object := range objects {
		offsets[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	table := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table)
	return out.Bytes()
}
