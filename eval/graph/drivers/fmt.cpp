// Instantiates {fmt} over its argument types, presentations and outputs.
#include <fmt/args.h>
#include <fmt/chrono.h>
#include <fmt/color.h>
#include <fmt/compile.h>
#include <fmt/format.h>
#include <fmt/os.h>
#include <fmt/ostream.h>
#include <fmt/printf.h>
#include <fmt/ranges.h>
#include <fmt/std.h>
#include <fmt/xchar.h>

#include <chrono>
#include <complex>
#include <filesystem>
#include <iostream>
#include <list>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <variant>
#include <vector>

namespace {

    struct Point {
        double x, y;
    };

    std::ostream& operator<<(std::ostream& out, const Point& p) {
        return out << p.x << p.y;
    }

    enum class Color { red, green };

    auto format_as(Color color) {
        return static_cast<int>(color);
    }

}  // namespace

template <>
struct fmt::formatter<Point> : fmt::ostream_formatter {};

void plain() {
    std::string s = fmt::format("{} {:>8} {:08.3f} {:#x} {:b} {:o} {:c} {:e} {:g} {:a}", 1, "a", 2.5, 255, 5u, 8l, 'c',
                                1e10, 1.f, 3.0L);
    s += fmt::format("{:*^{}.{}}", 3.14159, 12, 3);
    s += fmt::format("{0} {1} {0}", std::string("x"), std::string_view("y"));
    s += fmt::format("{a} {b:+d}", fmt::arg("a", 1), fmt::arg("b", 2ll));
    s += fmt::format("{:L} {} {}", 123456789, true, nullptr);
    s += fmt::format("{} {}", static_cast<void*>(&s), Point{1, 2});
    s += fmt::format(fmt::runtime("{}"), 1ull);
    s += fmt::format("{}", static_cast<__int128>(1));
    s += fmt::to_string(1) + fmt::to_string(1.5) + fmt::to_string(1.5f) + fmt::to_string(true);
    fmt::print("{}\n", s);
    fmt::print(stderr, "{}\n", 1.0);
    fmt::print(std::cout, "{}\n", Point{1, 2});
    fmt::memory_buffer buffer;
    fmt::format_to(std::back_inserter(buffer), "{}", 42);
    fmt::format_to_n(s.begin(), 3, "{}", 42);
    (void)fmt::formatted_size("{}", 42);
    char fixed[10];
    fmt::format_to(fixed, "{}", 1);
    fmt::format_int integer(42);
    s += integer.str() + integer.c_str();
    (void)fmt::vformat("{}", fmt::make_format_args(1));
    fmt::basic_memory_buffer<char, 10> small;
    small.resize(100);
    small.append(s.data(), s.data() + s.size());
    s += fmt::format("{}", fmt::join(std::vector<int>{1, 2}, ", "));
    s += fmt::format("{}", fmt::ptr(&s)) + fmt::format("{}", fmt::underlying(Color::red));
    s += fmt::format("{:?} {:?}", "a\n", 'b');
    s += fmt::format("{}", fmt::group_digits(1000000));
    s += fmt::format("{}", fmt::streamed(Point{1, 2}));
    s += fmt::format("{}", std::error_code());
    throw fmt::format_error("x");
}

void ranges() {
    std::vector<int> v{1, 2, 3};
    std::map<std::string, double> m{{"a", 1.0}};
    fmt::print("{} {} {} {}\n", v, m, std::set<int>{1}, std::make_tuple(1, "a", 2.0));
    fmt::print("{} {}\n", std::vector<std::vector<bool>>{}, std::pair<int, char>(1, 'a'));
    fmt::print("{:n} {::#x}\n", v, v);
    fmt::print("{}\n", fmt::join(std::make_tuple(1, 'a'), "|"));
    fmt::print("{}\n", fmt::join(m, "|"));
    fmt::print("{}\n", fmt::join({1, 2}, ","));
}

void times() {
    using namespace std::chrono;
    fmt::print("{:%Y-%m-%d %H:%M:%S %j %U %p %A %b %e %I %Z}\n", system_clock::now());
    fmt::print("{} {:%H:%M:%S} {:%Q%q} {}\n", seconds(42), milliseconds(1234), microseconds(3), duration<double>(1.5));
    fmt::print("{:%F %T}\n", fmt::localtime(std::time(nullptr)));
    fmt::print("{:%F %T}\n", fmt::gmtime(std::time(nullptr)));
    fmt::print("{}\n", fmt::localtime(system_clock::now()).tm_year);
    fmt::print(L"{:%F}\n", fmt::gmtime(std::time(nullptr)));
}

void colors() {
    fmt::print(fmt::fg(fmt::color::red) | fmt::bg(fmt::color::blue) | fmt::emphasis::bold, "{}", 1);
    std::string s = fmt::format(fmt::fg(fmt::terminal_color::red), "{}", 1);
    fmt::print("{}", fmt::styled(1, fmt::emphasis::italic));
    fmt::format_to(std::back_inserter(s), fmt::fg(fmt::rgb(1, 2, 3)), "{}", 2);
}

void wide() {
    std::wstring w = fmt::format(L"{} {:5} {:.3f}", 1, L"a", 2.0);
    w += fmt::to_wstring(1);
    fmt::print(L"{}", w);
    fmt::format_to(std::back_inserter(w), L"{}", 3);
    (void)fmt::format(u"{}", 1);
}

void printf_like() {
    std::string s = fmt::sprintf("%d %5.2f %s %c %x %p %*d %%", 1, 2.0, "a", 'c', 255, static_cast<void*>(&s), 5, 3);
    fmt::printf("%s\n", s);
    fmt::fprintf(stderr, "%ld %hhd %u\n", 1l, static_cast<signed char>(1), 2u);
    std::wstring w = fmt::sprintf(L"%d", 1);
}

void compiled() {
    using namespace fmt::literals;
    std::string s = fmt::format(FMT_COMPILE("{} {:x} {}"), 1, 2, "a");
    fmt::format_to(std::back_inserter(s), FMT_COMPILE("{}"), 1.0);
    fmt::format_to_n(s.begin(), 2, FMT_COMPILE("{}"), 1);
    (void)fmt::formatted_size(FMT_COMPILE("{}"), 1);
    fmt::print(FMT_COMPILE("{}"), 1);
    s += fmt::format("{x}", "x"_a = 1);
}

void others() {
    fmt::dynamic_format_arg_store<fmt::format_context> store;
    store.push_back(1);
    store.push_back(std::string("a"));
    store.push_back(fmt::arg("name", 1.5));
    store.push_back(std::cref("b"));
    store.reserve(10, 2);
    fmt::vprint("{} {} {name}", store);
    store.clear();
    auto file = fmt::output_file("x", fmt::buffer_size = 100);
    file.print("{}", 1);
    file.flush();
    fmt::file f("x", fmt::file::RDONLY);
    char bytes[10];
    f.read(bytes, 10);
    f.write(bytes, 10);
    (void)f.size();
    fmt::file copy = fmt::file::dup(f.descriptor());
    f.dup2(copy.descriptor());
    std::error_code code;
    f.dup2(copy.descriptor(), code);
    fmt::file end, start;
    fmt::file::pipe(end, start);
    fmt::buffered_file buffered = f.fdopen("r");
    buffered.print("{}", 1);
    buffered.close();
    throw fmt::system_error(1, "{}", "x");
}

void standard() {
    fmt::print("{} {}\n", std::filesystem::path("a"), std::this_thread::get_id());
    fmt::print("{}\n", std::variant<int, std::string>(1));
    fmt::print("{}\n", std::monostate());
}
