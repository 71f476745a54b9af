// Instantiates nlohmann::json over values, formats, pointers, patches and conversions.
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <deque>
#include <forward_list>
#include <fstream>
#include <iostream>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <valarray>
#include <vector>

using nlohmann::json;

namespace shop {

    struct Item {
        std::string name;
        double price = 0;
    };
    NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Item, name, price)

    enum class State { open, closed };
    NLOHMANN_JSON_SERIALIZE_ENUM(State, {{State::open, "open"}, {State::closed, "closed"}})

}  // namespace shop

void values() {
    json j;
    j["a"] = 1;
    j["b"] = {1, 2.5, "x", nullptr, true};
    j["c"]["d"] = json::object({{"k", "v"}});
    j.push_back({"e", 3});
    j += {"f", 4};
    j.emplace("g", 5);
    json list = json::array({1, 2, 3});
    list.push_back(4);
    list.emplace_back(5);
    list += 6;
    list.insert(list.begin(), 0);
    list.insert(list.end(), 2, 7);
    list.insert(list.end(), j["b"].begin(), j["b"].end());
    list.insert(list.end(), {8, 9});
    list.erase(list.begin());
    list.erase(list.begin(), list.begin() + 1);
    list.erase(0);
    j.erase("a");
    j.update(json::object({{"z", 1}}));
    j.update(j["c"].begin(), j["c"].end(), true);
    j.swap(list);
    using std::swap;
    swap(j, list);
    json::string_t text = "t";
    json textual(text);
    textual.swap(text);
    (void)j.size();
    (void)j.empty();
    (void)j.max_size();
    (void)j.type_name();
    (void)j.contains("a");
    (void)j.count("a");
    (void)j.find("a");
    (void)j.at("a");
    (void)list.at(0);
    (void)j.value("a", 1);
    (void)j.value("/a/b"_json_pointer, std::string("x"));
    (void)list.front();
    (void)list.back();
    (void)(j == list);
    (void)(j < list);
    (void)(j != 1);
    (void)(1 >= j);
    (void)j.is_primitive();
    (void)j.is_structured();
    (void)j.is_number_unsigned();
    (void)j.is_binary();
    json copy(j), moved(std::move(copy)), many(3, "x"), ranged(j.begin(), j.end());
    json binary = json::binary({1, 2, 3}, 42);
    binary.get_binary().set_subtype(1);
    (void)binary.get_binary().has_subtype();
    for (auto& element : j.items()) {
        std::cout << element.key() << element.value();
    }
    for (auto it = j.cbegin(); it != j.cend(); ++it) {
        std::cout << *it;
    }
    for (auto it = list.rbegin(); it != list.rend(); it++) {
        std::cout << it->size() << (it - list.rbegin());
    }
    auto it = list.begin();
    it += 1;
    it--;
    (void)(it[0] == *(it - 1) || it < list.end());
    j.clear();
    (void)std::hash<json>()(j);
    (void)json::meta();
    (void)json::diff(j, list);
}

template <class Value>
void pointer_to(json& j) {
    (void)j.get_ptr<Value*>();
    (void)j.get_ptr<const Value*>();
    (void)std::as_const(j).get_ptr<const Value*>();
    (void)j.get_ref<Value&>();
}

void insides(json& j) {
    pointer_to<json::object_t>(j);
    pointer_to<json::array_t>(j);
    pointer_to<json::string_t>(j);
    pointer_to<json::boolean_t>(j);
    pointer_to<json::number_integer_t>(j);
    pointer_to<json::number_unsigned_t>(j);
    pointer_to<json::number_float_t>(j);
    pointer_to<json::binary_t>(j);
}

template <class Json>
void of_numbers(std::istream& in) {
    Json j = Json::parse(in);
    (void)j.dump();
}

void numbers(std::istream& in) {
    using Small = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int32_t, std::uint32_t, float>;
    using Large = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, long double>;
    of_numbers<Small>(in);
    of_numbers<Large>(in);
    (void)Small::from_cbor(Small::to_cbor(1));
    (void)Small::from_ubjson(Small::to_ubjson(1));
}

void inputs(std::FILE* file) {
    json j = json::parse(file);
    j = json::parse(std::wstring(L"1"));
    j = json::parse(std::u16string(u"1"));
    j = json::parse(std::u32string(U"1"));
    (void)json::accept(file);
}

void conversions() {
    json j = shop::Item{"a", 1};
    auto item = j.get<shop::Item>();
    j.get_to(item);
    j = shop::State::open;
    (void)j.get<shop::State>();
    j = std::vector<int>{1, 2};
    (void)j.get<std::vector<double>>();
    (void)j.get<std::array<int, 2>>();
    (void)j.get<std::list<int>>();
    (void)j.get<std::deque<int>>();
    (void)j.get<std::set<int>>();
    (void)j.get<std::forward_list<int>>();
    (void)j.get<std::valarray<int>>();
    (void)j.get<std::pair<int, int>>();
    (void)j.get<std::tuple<int, int>>();
    int raw[2];
    j.get_to(raw);
    j = std::map<std::string, int>{{"a", 1}};
    (void)j.get<std::map<std::string, int>>();
    (void)j.get<std::unordered_map<std::string, json>>();
    j = std::map<int, int>{{1, 1}};
    (void)j.get<std::map<int, int>>();
    j = std::make_tuple(1, "a", 2.0);
    j = std::vector<bool>{true};
    j = std::valarray<double>{1.0};
    j = 1.5f;
    (void)j.get<int>();
    (void)j.get<bool>();
    (void)j.get<json::number_float_t*>();
    (void)j.get_ptr<json::number_integer_t*>();
    (void)j.get_ref<json::string_t&>();
    std::string s = j;
    (void)static_cast<int>(j);
    nlohmann::ordered_json ordered = {{"z", 1}, {"a", 2}};
    ordered["y"] = 3;
    ordered.erase("z");
    (void)ordered.at("a");
    (void)ordered.find("a");
    json unordered = ordered;
}

struct Handler : nlohmann::json_sax<json> {
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return true; }
    bool key(string_t&) override { return true; }
    bool end_object() override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }
};

void formats(std::istream& in, std::ostream& out) {
    json j = json::parse(R"({"a": [1, 2.5e3, "\u00e9", null]})");
    j = json::parse(in);
    j = json::parse(std::string("1"), [](int, json::parse_event_t, json&) { return true; }, false, true);
    const char* text = "[1]";
    j = json::parse(text, text + 3);
    j = json::parse(std::vector<std::uint8_t>{'1'});
    j = "[1]"_json;
    (void)json::accept("1");
    Handler handler;
    json::sax_parse("1", &handler);
    json::sax_parse(in, &handler, json::input_format_t::cbor);
    in >> j;
    out << std::setw(4) << j;
    (void)j.dump();
    (void)j.dump(2, '\t', true, json::error_handler_t::replace);
    (void)nlohmann::to_string(j);
    std::vector<std::uint8_t> bytes = json::to_cbor(j);
    json::to_cbor(j, bytes);
    j = json::from_cbor(bytes);
    j = json::from_cbor(bytes, true, false, json::cbor_tag_handler_t::store);
    bytes = json::to_msgpack(j);
    j = json::from_msgpack(bytes);
    bytes = json::to_ubjson(j, true, true);
    j = json::from_ubjson(bytes);
    bytes = json::to_bjdata(j, true, true);
    j = json::from_bjdata(bytes);
    bytes = json::to_bson(j);
    j = json::from_bson(bytes.begin(), bytes.end());
    std::string written;
    json::to_cbor(j, written);
    json::to_msgpack(j, out);
}

void pointers() {
    json j = {{"a", {{"b", 1}}}};
    json::json_pointer p("/a/b");
    p /= "c";
    p /= 1;
    p.push_back("d");
    p.pop_back();
    (void)p.back();
    (void)p.parent_pointer();
    (void)p.to_string();
    (void)(p / p == p);
    (void)j[p];
    (void)j.at(p);
    (void)j.contains(p);
    (void)j.flatten().unflatten();
    j.merge_patch({{"a", nullptr}});
    j = j.patch(R"([{"op": "add", "path": "/x", "value": 1}, {"op": "remove", "path": "/x"}])"_json);
    j.patch_inplace(json::diff(j, json()));
    try {
        (void)j.at(1);
    } catch (json::out_of_range& e) {
        std::cerr << e.what() << e.id;
    }
}
