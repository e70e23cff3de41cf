package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// The subscription's signing secret, whole: whsec_…
var secret = []byte(os.Getenv("WEBHOOK_SECRET"))

func isGenuine(body []byte, timestamp, signatures string) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > 300 {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	expected := []byte("sha256=" + hex.EncodeToString(mac.Sum(nil)))
	// While a secret is being renewed there are two signatures, with a comma between them.
	for _, one := range strings.Split(signatures, ",") {
		if hmac.Equal([]byte(strings.TrimSpace(one)), expected) {
			return true
		}
	}
	return false
}

func receive(writer http.ResponseWriter, request *http.Request) {
	// The bytes exactly as they came: parse them only after the check.
	body, err := io.ReadAll(request.Body)
	header := request.Header
	if err != nil || !isGenuine(body, header.Get("X-Webhook-Timestamp"), header.Get("X-Webhook-Signature")) {
		writer.WriteHeader(http.StatusUnauthorized)
		return
	}
	log.Println(header.Get("X-Webhook-Event"), string(body))
	writer.WriteHeader(http.StatusNoContent)
}

func main() {
	if len(secret) == 0 {
		log.Fatal("WEBHOOK_SECRET is not set")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	log.Fatal(http.ListenAndServe(":"+port, http.HandlerFunc(receive)))
}
