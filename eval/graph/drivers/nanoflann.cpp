// Builds and asks k-d trees of fixed and growing size, in each metric.
#include <nanoflann.hpp>

#include <array>
#include <fstream>
#include <vector>

struct Cloud {
    std::vector<std::array<double, 3>> points;

    std::size_t kdtree_get_point_count() const { return points.size(); }
    double kdtree_get_pt(std::size_t at, std::size_t axis) const { return points[at][axis]; }
    template <class Box>
    bool kdtree_get_bbox(Box&) const {
        return false;
    }
};

template <class Tree>
void ask(Tree& tree) {
    const double query[3] = {0, 0, 0};
    std::uint32_t index[4];
    double distance[4];
    tree.knnSearch(query, 4, index, distance);
    std::vector<std::pair<std::uint32_t, double>> found;
    tree.radiusSearch(query, 1.0, found, nanoflann::SearchParams());
    nanoflann::KNNResultSet<double, std::uint32_t> set(4);
    set.init(index, distance);
    tree.findNeighbors(set, query, nanoflann::SearchParams());
    set.full();
    set.worstDist();
    nanoflann::RadiusResultSet<double, std::uint32_t> radius(1.0, found);
    tree.radiusSearchCustomCallback(query, radius, nanoflann::SearchParams());
    radius.worst_item();
}

template <class Metric>
void still(Cloud& cloud) {
    using Tree = nanoflann::KDTreeSingleIndexAdaptor<Metric, Cloud, 3>;
    Tree tree(3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(10));
    tree.buildIndex();
    ask(tree);
    tree.usedMemory(tree);
    tree.size(tree);
    tree.veclen(tree);
    std::fstream file;
    tree.saveIndex(file);
    tree.loadIndex(file);
}

void run(Cloud& cloud) {
    still<nanoflann::L2_Simple_Adaptor<double, Cloud>>(cloud);
    still<nanoflann::L2_Adaptor<double, Cloud>>(cloud);
    still<nanoflann::L1_Adaptor<double, Cloud>>(cloud);
    still<nanoflann::SO3_Adaptor<double, Cloud>>(cloud);
    using Turn = nanoflann::SO2_Adaptor<double, Cloud>;
    nanoflann::KDTreeSingleIndexAdaptor<Turn, Cloud, 1> turn(1, cloud);
    turn.buildIndex();
    using Growing = nanoflann::KDTreeSingleIndexDynamicAdaptor<nanoflann::L2_Simple_Adaptor<double, Cloud>, Cloud, 3>;
    Growing growing(3, cloud);
    growing.addPoints(0, 3);
    growing.removePoint(1);
    const double query[3] = {0, 0, 0};
    std::size_t index[4];
    double distance[4];
    nanoflann::KNNResultSet<double> set(4);
    set.init(index, distance);
    growing.findNeighbors(set, query, nanoflann::SearchParams());
}
