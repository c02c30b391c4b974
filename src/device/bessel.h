#pragma once

#include "elementary.h"

// Numbers for bessel.cu: zeros, and polynomials that interpolate at Chebyshev's nodes what was computed in 60 digits.
// "2^-59" at a table is the largest relative error that its polynomials make before rounding.

namespace cupola::device {

/// Squares of the zeros below 8, in two parts.
inline constexpr Pair kZerosOfJ0[] = {{0x1.721fb80462bbbp+2, 0x1.db60c816c15d3p-52},
                                      {0x1.e78a4a621dd6fp+4, -0x1.10d7c5048826bp-52}};
inline constexpr Pair kZerosOfJ1[] = {{0x1.d5d2b4189822cp+3, -0x1.c6a0d245172bap-54},
                                      {0x1.89bf66072a432p+5, 0x1.25355661cb79cp-51}};
inline constexpr Pair kZerosOfY0[] = {{0x1.98d257f93404ap-1, 0x1.b7acb8a94e405p-55},
                                      {0x1.f53915f139c23p+3, -0x1.cb4dd48f76192p-57},
                                      {0x1.91b26bc6b2299p+5, 0x1.2891c0163fd1bp-50}};
inline constexpr Pair kZerosOfY1[] = {{0x1.34f49cfc780a9p+2, -0x1.65d88128c73dfp-52},
                                      {0x1.d7b3f67328d2ep+4, -0x1.537e751d20839p-50}};
// 2^-64
/// J0 over its zeros, as a polynomial in x^2 - middle; a row 16 wide in x^2. J1 over its zeros and x likewise.
DEVICE const double kJ0[4][12] = {
    {0x1.029409f6ba411p-8, -0x1.8214f80caf080p-13, 0x1.e9c20d3ed7fb6p-19, -0x1.676a15655cc1cp-25, 0x1.5d1231ea45071p-32,
     -0x1.e4ff0a216ae4fp-40, 0x1.fb8c013541be9p-48, -0x1.9f352c7f833c7p-56, 0x1.111d3f4c11d93p-64,
     -0x1.2760fa59cec3dp-73, 0x1.0b7d3151f1e6ep-82, -0x1.9b62cfbc7bf65p-92},
    {0x1.d31c8f3cb3c46p-10, -0x1.8d8fe729f76b7p-14, 0x1.150ab240d55c0p-19, -0x1.b474f22d1fd71p-26,
     0x1.bff38c8cace03p-33, -0x1.4542c0c01be2dp-40, 0x1.60f09fb36825cp-48, -0x1.299590325c339p-56,
     0x1.91a173a541c1ap-65, -0x1.bc01236ea4569p-74, 0x1.99ce1bff618c9p-83, -0x1.406b0bf1251d2p-92},
    {0x1.6ffd09bd47c69p-11, -0x1.7ba5e6d98a40dp-15, 0x1.2b3a8660a5ba0p-20, -0x1.0101352952acdp-26,
     0x1.195767389dfc2p-33, -0x1.ad8d1b4b74dcfp-41, 0x1.e52e346bcc5edp-49, -0x1.a6c3807c04e11p-57,
     0x1.253d8cdb7b24ap-65, -0x1.4bd51f9cdb01ap-74, 0x1.387c41119fcc7p-83, -0x1.f1400ab5d1ae2p-93},
    {0x1.b755a4e64e436p-13, -0x1.42492533d903dp-16, 0x1.2f52989b0fd32p-21, -0x1.232722cf31537p-27,
     0x1.586f13f4a483dp-34, -0x1.16948b546f82ep-41, 0x1.49210b3239051p-49, -0x1.29561cb38a212p-57,
     0x1.a8ed9c66309e2p-66, -0x1.ecfe92e35489ap-75, 0x1.da3a64249a12bp-84, -0x1.804b8f933314fp-93},
};
// 2^-60
DEVICE const double kJ1[4][11] = {
    {0x1.0d56cd5cb73c1p-11, -0x1.46aeb0a6e6667p-16, 0x1.5b5e040a4c8d2p-22, -0x1.b5a51f3efdf6fp-29,
     0x1.73ad5049f811cp-36, -0x1.ca429d55b413cp-44, 0x1.aeb0ad92892ffp-52, -0x1.3f90549af8a68p-60,
     0x1.8078b693ca6fbp-69, -0x1.7f1c1ee45f786p-78, 0x1.414cda2e96a42p-87},
    {0x1.1e81e6b3a7d60p-12, -0x1.797c2dfa5e39fp-17, 0x1.abfacbb6d008fp-23, -0x1.1bb94e0ffadfcp-29,
     0x1.f65717d6f4efbp-37, -0x1.40831ff7244fdp-44, 0x1.3610e084ec4e4p-52, -0x1.d79aa80841acbp-61,
     0x1.21c960571a5dep-69, -0x1.262732cbf3163p-78, 0x1.f5777302ee798p-88},
    {0x1.1e9b53ee6a8f1p-13, -0x1.a32572437935ep-18, 0x1.008d918c34a3ep-23, -0x1.68c69d850b0d6p-30,
     0x1.4e9e64c508823p-37, -0x1.bb77af8a1a0e5p-45, 0x1.baad36ca1511ep-53, -0x1.59a88fb509dd0p-61,
     0x1.b27aeb6b385b4p-70, -0x1.c1b5703cd325fp-79, 0x1.85e615436b6e4p-88},
    {0x1.0634ae24e7a71p-14, -0x1.b9936e4725d5ap-19, 0x1.295c93a522268p-24, -0x1.c045dc6b350e1p-31,
     0x1.b67a37820b151p-38, -0x1.2f0da7a3f2a4ep-45, 0x1.390e36feb579cp-53, -0x1.f70050f564179p-62,
     0x1.43d145ec3a98dp-70, -0x1.562501769357ep-79, 0x1.2dfacf6178087p-88},
};
// 2^-62
/// Y0 over (x^2 - zero^2) in x - middle; the rows are the halves of [1/2, 1), [1, 2), [2, 4), [4, 8). Y1 x likewise.
DEVICE const double kY0[8][19] = {
    {0x1.d4e3ed6c79c05p-11, -0x1.1c87c05732531p-10, 0x1.406324c889eb0p-10, -0x1.79a44287edccbp-10,
     0x1.ce60b4049cfb8p-10, -0x1.2638327f063adp-9, 0x1.83c7e9e4e940cp-9, -0x1.0712071ad9d43p-8, 0x1.6d41fcdd72504p-8,
     -0x1.0230b78474f77p-7, 0x1.723b32429d4f3p-7, -0x1.0c753cc5cd659p-6, 0x1.88e77bf63285dp-6, -0x1.21da374e567efp-5,
     0x1.ae256ac610f05p-5, -0x1.3c52d2727c9f5p-4, 0x1.da1002f55cb16p-4, -0x1.add613bea28f0p-3, 0x1.44f49bd715b6bp-2},
    {0x1.659e59e8df12fp-11, -0x1.5cf6ef837135dp-11, 0x1.2aa5f9d4b7931p-11, -0x1.091f8aefa6cd7p-11,
     0x1.e012006145068p-12, -0x1.bc43511f4a1e6p-12, 0x1.a5232e3496079p-12, -0x1.986ebe3bde13cp-12,
     0x1.942d83d2cb898p-12, -0x1.96dea4a373499p-12, 0x1.9f7158a4497a1p-12, -0x1.ad31458277852p-12,
     0x1.bfb2caa6e3d9cp-12, -0x1.d6c9e08487306p-12, 0x1.f25f224dd1b1ap-12, -0x1.0863810df458ap-11,
     0x1.1ad62a191db93p-11, -0x1.4cb089b1930c1p-11, 0x1.66f1f679a4720p-11},
    {0x1.024d7e77398f2p-11, -0x1.93297ea5b24dap-12, 0x1.fc0a1c853caedp-13, -0x1.4d8dfb411af52p-13,
     0x1.bb4f99418dbb6p-14, -0x1.2881473bc8ab3p-14, 0x1.914a4580c2a02p-15, -0x1.134b2de34794ep-15,
     0x1.7eff86bcc31efp-16, -0x1.0df87c8bb4f4ap-16, 0x1.813ba15d9c90fp-17, -0x1.15d343f322ca9p-17,
     0x1.9485d4797734cp-18, -0x1.2910f67919975p-18, 0x1.b727e8fefc19bp-19, -0x1.41f55fdf7d878p-19,
     0x1.e13d5a76792bap-20, -0x1.b324d7c74d105p-20, 0x1.486dd061a5378p-20},
    {0x1.6ae06683097e8p-12, -0x1.d686c19a6b450p-13, 0x1.b44d68bbb5888p-14, -0x1.a850cedaad30fp-15,
     0x1.a6f2914f1ede0p-16, -0x1.a4000d1baf3ebp-17, 0x1.a1c9bc46a48f3p-18, -0x1.a1febcc17b1bcp-19,
     0x1.a5348dad3e664p-20, -0x1.abc6d5b134d06p-21, 0x1.b5f5a31414568p-22, -0x1.c3f084b549754p-23,
     0x1.d5e21c6092d27p-24, -0x1.ebff61487bddcp-25, 0x1.0336bb4098e16p-25, -0x1.11ce4231376cbp-26,
     0x1.23b041668d4bap-27, -0x1.559f551bd1788p-28, 0x1.6f659980cfb75p-29},
    {0x1.cf016d3801f62p-13, -0x1.05b5940043d9fp-13, 0x1.5e3eb4ab85e1ap-15, -0x1.da275ec8570cbp-17,
     0x1.5a9dc46239575p-18, -0x1.f8e4517e53318p-20, 0x1.6c143ebcd1b7ep-21, -0x1.067a236aadfc2p-22,
     0x1.7b3e224f166a5p-24, -0x1.12b8b8e0a6ae4p-25, 0x1.8f61bc930332dp-27, -0x1.2372e3d8d7552p-28,
     0x1.ab2dd3ea0b343p-30, -0x1.3a9764749b804p-31, 0x1.d123e9530c2b6p-33, -0x1.54870d1b0d9fbp-34,
     0x1.fb9ba0a397cebp-36, -0x1.c8c0d17a1eaa3p-37, 0x1.5779a3b8833e9p-38},
    {0x1.0b27dc29d00d7p-13, -0x1.23c78c9bbd636p-14, 0x1.3262ee98615cfp-16, -0x1.125be2616cd40p-18,
     0x1.1f49f6a721788p-20, -0x1.3cd10bfc053cep-22, 0x1.52cd3815ac169p-24, -0x1.661a529c4a15fp-26,
     0x1.7af9b7a731469p-28, -0x1.9152f9e16f232p-30, 0x1.a917c3798d931p-32, -0x1.c2ae4391fde14p-34,
     0x1.de7fc4b774cf7p-36, -0x1.fcf92d1717966p-38, 0x1.0f39ee10e312cp-39, -0x1.20ba4fd57890ep-41,
     0x1.351acffc7f197p-43, -0x1.6afc2910ef19dp-45, 0x1.86a3e9380814cp-47},
    {0x1.c646e48bd2b8fp-15, -0x1.14592d533c365p-15, 0x1.128509634374ep-17, -0x1.46559abc53340p-20,
     0x1.820eb77582ce1p-23, -0x1.3aee448460b21p-25, 0x1.05f89d6d1d572p-27, -0x1.8ed56fd0408e9p-30,
     0x1.2a9f7afe3740fp-32, -0x1.c4ca82fbfe234p-35, 0x1.57f8929b65260p-37, -0x1.04a89849fc29bp-39,
     0x1.8abde73261f0ep-42, -0x1.2b1c53fde4acap-44, 0x1.c529d0c68d7c8p-47, -0x1.5263faccc2bfbp-49,
     0x1.0099fab6df1bfp-51, -0x1.d62ad87b892c2p-54, 0x1.654d619bbec40p-56},
    {0x1.bf0c0121b45dep-17, -0x1.705bb43b26f2ap-17, 0x1.cf06a3014c63cp-19, -0x1.1ba9c1cf56c3bp-21,
     0x1.6f1a4cd515200p-25, -0x1.bb3f31bfd81c9p-29, 0x1.6143443abcadep-31, -0x1.070ba12b9f998p-33,
     0x1.1b0a0ec795165p-36, -0x1.1df67a99ac650p-39, 0x1.39eaa5eec19e3p-42, -0x1.6105337355f37p-45,
     0x1.85a6e60ab3948p-48, -0x1.ab1d7cc01c018p-51, 0x1.d51dd37679206p-54, -0x1.00da867140660p-56,
     0x1.1a25e1c6dfb9cp-59, -0x1.5450fbf187ca9p-62, 0x1.75c018ddf82fbp-65},
};
// 2^-60
DEVICE const double kY1[8][16] = {
    {-0x1.824225250e647p-8, -0x1.aafeeb13a9aa3p-9, -0x1.52885f7163fc3p-11, 0x1.d4646b77ce57fp-11,
     -0x1.de4668e71245dp-12, 0x1.4b91c496751e5p-12, -0x1.100ac2dd192f9p-12, 0x1.eafde30121ae7p-13,
     -0x1.e399882ec7ac3p-13, 0x1.fe71758c8edafp-13, -0x1.1bfe277e33eb4p-12, 0x1.491ed717a0fdep-12,
     -0x1.8821230615eb2p-12, 0x1.e19ed0143e09ap-12, -0x1.5186f33ab6a91p-11, 0x1.b1005785a3521p-11},
    {-0x1.b97675d7a47a4p-8, -0x1.c271143a77185p-9, -0x1.c8a808d15fb06p-14, 0x1.2e6837052a872p-11,
     -0x1.ca994ff9eb73ap-13, 0x1.c951bcfaf679ep-14, -0x1.1d59371a95198p-14, 0x1.77263c576ef3ep-15,
     -0x1.07d16a40e3e40p-15, 0x1.8bcc1449e0fecp-16, -0x1.38e1a1cfab47bp-16, 0x1.01e6b8e7557fep-16,
     -0x1.b725ffed55f59p-17, 0x1.808fcab6d8b16p-17, -0x1.6bab62f9bf06ap-17, 0x1.4c65caa91bfb6p-17},
    {-0x1.0695e130ed042p-7, -0x1.b2311d602b7a3p-9, 0x1.a1530d4e7c091p-12, 0x1.7139cffcede87p-12, -0x1.b443e572e7507p-14,
     0x1.0abefc4832eacp-15, -0x1.04bc0b70b9fdap-16, 0x1.007f341064811p-17, -0x1.009976270de7bp-18,
     0x1.0e274ef2f35f3p-19, -0x1.29fa860e07445p-20, 0x1.55ef28c85d5bap-21, -0x1.93fb198d3743ep-22,
     0x1.ecea00c67ff24p-23, -0x1.578497aca4573p-23, 0x1.b72deb4149565p-24},
    {-0x1.3857fa2175a97p-7, -0x1.6138dc63abee6p-9, 0x1.a2f4eab8e8e7fp-11, 0x1.9c6ee8d2b936ap-13, -0x1.fcdfbc93610e6p-15,
     0x1.2395ddb00770bp-17, -0x1.b4f9fe722f782p-19, 0x1.71565a2172dbap-20, -0x1.13d30a4e8f5f6p-21,
     0x1.a59eeba913002p-23, -0x1.4f8e78adae8c9p-24, 0x1.1388ea9257253p-25, -0x1.d12ce701b5da7p-27,
     0x1.9387d336fc737p-28, -0x1.7a13b4edc0bcbp-29, 0x1.572249e529882p-30},
    {-0x1.69b36a5df6e26p-7, -0x1.4955ca1e795c5p-10, 0x1.16abcd3a3bbd6p-10, 0x1.86824ff24a030p-15,
     -0x1.6635947add7e9p-15, 0x1.9444df3291010p-19, -0x1.de053c28a67ebp-23, 0x1.8dcc97f1d381cp-23,
     -0x1.00071636908c6p-24, 0x1.10942e2b00e97p-26, -0x1.36d89f4c992bcp-28, 0x1.6f52783eff423p-30,
     -0x1.b645d6d49cb81p-32, 0x1.0b2c79b9ed64bp-33, -0x1.7196d8a6b4824p-35, 0x1.d4c279ed75596p-37},
    {-0x1.6fcfce9b92082p-7, 0x1.bf5d5dd5d48aap-11, 0x1.ffa92d9ac6e43p-11, -0x1.8c5650036c41ap-14,
     -0x1.ca4e42e8708f4p-16, 0x1.d4e5e75957bd8p-19, 0x1.6e042f27c38f0p-23, -0x1.7e5d3ad5e910bp-27,
     -0x1.19163c373c0f0p-27, 0x1.bb83b06c93d28p-30, -0x1.2ae382de4f324p-32, 0x1.098e07a0126bap-34,
     -0x1.e4eda71df608bp-37, 0x1.b0dfe81d11417p-39, -0x1.9b4a78fa67326p-41, 0x1.77a517dd172afp-43},
    {-0x1.0bfaba85ee263p-7, 0x1.780833dc074d1p-9, 0x1.4429d00e9c108p-12, -0x1.69ebb060a0c87p-13, 0x1.9d50d144f2f5bp-20,
     0x1.eb81f46a7dc55p-19, -0x1.6db1007846a96p-23, -0x1.2e5e3b1dccd1ep-25, 0x1.d3624963348e7p-30,
     0x1.73ca30ded592fp-32, -0x1.06916c53ac406p-35, 0x1.c8a96c58942edp-41, -0x1.13f473acd2cf2p-42,
     0x1.0ca5f4b9a8a45p-44, -0x1.7adb37c9bd628p-47, 0x1.dfd7e511a2fadp-50},
    {-0x1.421634ebb690cp-9, 0x1.317d288ed993bp-9, -0x1.ded585c203ac1p-12, -0x1.d8609ab29eb46p-15, 0x1.5fd6a219cda01p-16,
     -0x1.09162889b1c0bp-23, -0x1.6d047265181b2p-22, 0x1.e209bdf8a6adfp-27, 0x1.90096ea7fb34ep-29,
     -0x1.70aa92ecfb9cdp-33, -0x1.2f62805d0edb8p-36, 0x1.64b1b2cb1e4e7p-40, 0x1.06e0ce4d59776p-44,
     -0x1.4b53292fdabc3p-48, -0x1.84a65beb921f2p-52, 0x1.50c5c8301bd25p-55},
};
// 2^-60
/// Y0 - 2/pi log(x) J0 below 1/2, in x^2 - 1/8, and (Y1 - 2/pi (log(x) J1 - 1/x)) / x.
DEVICE const double kRestOfY0[7] = {-0x1.a8c8fbe2fb5d2p-5, 0x1.638f0dda15f00p-3,   -0x1.040faf4c2e107p-6,
                                    0x1.17e6fedafd8f1p-11, -0x1.3c6ee752c8d50p-17, 0x1.ba6bde3a48252p-24,
                                    -0x1.a4f151e5803e4p-31};
// 2^-67
DEVICE const double kRestOfY1[7] = {-0x1.83b4b88f7ede5p-3, 0x1.b7330e33551efp-5,   -0x1.7fd93c324aea1p-9,
                                    0x1.2a6a4eeb450bfp-14, -0x1.08f954488b8e2p-20, 0x1.3171ddfe535b7p-27,
                                    -0x1.eec52cd81127cp-35};
// 2^-56
/// What multiplies the cosine (P) and the sine (Q, times x) in Hankel's form (DLMF 10.17.3), from 8, in (8/x)^2 - 1/2.
DEVICE const double kFarP0[12] = {0x1.ffb8dd3285038p-1,   -0x1.193600c1dea84p-10, 0x1.9be001622411bp-16,
                                  -0x1.b8d2d704d2389p-20, 0x1.b7eef544a44dbp-23,  -0x1.4d2ee46241a84p-25,
                                  0x1.54fcfbe0d0767p-27,  -0x1.b61b041670c84p-29, 0x1.48f9107201c7dp-30,
                                  -0x1.202eebd5fe519p-31, 0x1.84af46362f78bp-32,  -0x1.c069f735dc27dp-33};
// 2^-57
DEVICE const double kFarQ0[15] = {-0x1.fdb5c0b2f3d34p-4,  0x1.1e9a6138fede1p-10,  -0x1.8c84352848c44p-15,
                                  0x1.3135a899d3b35p-18,  -0x1.858d1bacfccc6p-21, 0x1.61a5760760c8cp-23,
                                  -0x1.a08311da28e9ep-25, 0x1.2b95c69e3fcedp-26,  -0x1.f921a9be46dbep-28,
                                  0x1.e92000e82cf7dp-29,  -0x1.066809194256ap-29, 0x1.03a6705481024p-30,
                                  -0x1.36db567653cb5p-31, 0x1.c9af9c3d033bfp-31,  -0x1.5c372909d9d72p-31};
// 2^-56
DEVICE const double kFarP1[12] = {0x1.003b716033736p+0,   0x1.d73b8ea3c1173p-10,  -0x1.0b1541c06b4ffp-15,
                                  0x1.07762648d8f89p-19,  -0x1.f9615293f6a3ep-23, 0x1.75eaa5af5e62cp-25,
                                  -0x1.78d9f27270f00p-27, 0x1.def6f85bc524fp-29,  -0x1.64ed30aede0c7p-30,
                                  0x1.36c270d92bde7p-31,  -0x1.9ff0a24ef925ep-32, 0x1.dde5dde7c1f09p-33};
// 2^-56
DEVICE const double kFarQ1[14] = {0x1.7f323705062edp-2,   -0x1.938da0a0a6894p-10, 0x1.e8e009ca4af59p-15,
                                  -0x1.642312776f94ap-18, 0x1.b9302ecff547ap-21,  -0x1.8922ebf1b2a58p-23,
                                  0x1.c9279847a040dp-25,  -0x1.45d8148c05a0ep-26, 0x1.11ee2566a9f13p-27,
                                  -0x1.060412bc2f030p-28, 0x1.fa39003a216d9p-30,  -0x1.1cf38d60ad77ap-30,
                                  0x1.4581740132529p-30,  -0x1.d03cbf5a62a41p-31};

}  // namespace cupola::device
