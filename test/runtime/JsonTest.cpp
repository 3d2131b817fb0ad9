#include "runtime/base/JsonReader.h"
#include "runtime/base/JsonWriter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace dlrt;

TEST(JsonWriter, Compact) {
  JsonWriter json;
  json.beginObject()
      .field("event", "a\"b\\\n\x01")
      .field("n", 3)
      .field("f", 0.1f)
      .field("d", 0.1)
      .field("nan", std::nan(""))
      .field("inf", -std::numeric_limits<float>::infinity())
      .field("yes", true);
  json.array("list", std::vector<int>{1, 2});
  json.key("empty").beginArray().endArray();
  json.endObject();
  EXPECT_EQ(json.text(),
            "{\"event\":\"a\\\"b\\\\\\n\\u0001\",\"n\":3,\"f\":0.1,\"d\":0.1,"
            "\"nan\":\"nan\",\"inf\":\"-inf\",\"yes\":true,\"list\":[1,2],"
            "\"empty\":[]}");
}

TEST(JsonWriter, Indented) {
  JsonWriter json(true);
  json.beginObject().field("a", 1).array("b", std::vector<int>{1, 2});
  json.key("c").beginObject().field("d", 2).endObject().endObject();
  EXPECT_EQ(json.text(),
            "{\n  \"a\": 1,\n  \"b\": [1,2],\n  \"c\": {\n    \"d\": 2\n  "
            "}\n}");
}

TEST(JsonReader, ReadsWhatItShould) {
  auto json = parseJson(
      " {\"a\": [1, -2.5e3, true, null], \"b\\u00e9\\n\": {\"c\": \"\"}} ");
  ASSERT_TRUE(json) << json.status().message();
  const JsonValue *a = json->find("a");
  ASSERT_TRUE(a);
  ASSERT_EQ(a->items.size(), 4u);
  EXPECT_EQ(a->items[1].text, "-2.5e3");
  EXPECT_TRUE(a->items[2].truth);
  EXPECT_EQ(json->members[1].name, "b\xc3\xa9\n");
  EXPECT_EQ(json->find("missing"), nullptr);
  EXPECT_EQ(parseJson("\"\\ud83d\\ude00\"")->text, "\xf0\x9f\x98\x80");
}

TEST(JsonReader, RefusesTheRest) {
  for (const char *text :
       {"", "{", "[1,]", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "01", "1.", "1e",
        "-", "\"", "\"\\x\"", "\"\\ud83d\"", "tru", "{a:1}", "[1] 2", "\"\n\"",
        "nul", "+1"})
    EXPECT_FALSE(parseJson(text)) << text;
  EXPECT_FALSE(parseJson(std::string(100000, '[')));
}
